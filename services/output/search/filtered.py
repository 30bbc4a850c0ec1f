"""Showing only some lines of a session's output."""

from __future__ import annotations

from services.output.search.matching import Matching
from services.output.search.query import Filter
from services.output.spool.reader import SpoolReader


class FilteredLines(Matching):
    """The lines a filter lets pass, as rows counted from 0; `run` finds them, oldest first, and keeps up.

    When old output is dropped its rows go, and all others move up.

    Args:
        reader: Of the session; this reads with one of its own.
        wanted: Which lines to show.
    """

    def __init__(self, reader: SpoolReader, wanted: Filter) -> None:
        super().__init__(reader.directory, wanted)

    @property
    def rows(self) -> int:
        """How many lines were found so far."""
        return len(self._found)

    def line_number(self, row: int) -> int:
        """The line in a row.

        Raises:
            IndexError: There is no such row.
        """
        return self._found.lines(row, 1)[0]

    def line_numbers(self, row: int, count: int) -> list[int]:
        """The lines in a row and those below it; fewer at the end."""
        return self._found.lines(row, count)

    def row_at(self, line: int) -> int:
        """The row of a line, or where it would be if it passed."""
        return self._found.rank(line)
