"""One search in a pane's output: how many hits, which one this is, where the next one is."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from services.output import Filter, Query, Search, SpoolReader
from tui.figures import counted
from tui.text import safe
from tui.widgets.log_pane.painting import MOST_CHARACTERS, Marking
from tui.widgets.log_pane.rows import Rows

_SLOW_PARTS = re.compile(r"\\[1-9]|\(\?[P=!<]|[)?][*+{]|[*+?}][*+{]")
_REPEATS = re.compile(r"[*+]|\{\d*,?\d*\}")
_ONE_CHARACTER = re.compile(r"\\\D|\[\^?\]?(?:\\.|[^\]\\])*\]")
_MOST_OPTIONAL = 3
_REPEAT_REACH = 500


class Hits:
    """Lines of one kind, one after the other.

    Args:
        reader: Of the session.
        wanted: Which lines; they fit all of it.
    """

    def __init__(self, reader: SpoolReader, *wanted: Query | Filter) -> None:
        self._search = Search(reader, *wanted)

    def close(self) -> None:
        """Look no more."""
        self._search.close()

    async def go(self, line: int, rows: Rows, *, forward: bool) -> int | None:
        """Find the nearest one that is among some rows.

        Args:
            line: The number of the line to look from; it does not count itself.
            rows: Others are passed over.
            forward: Towards newer lines.

        Returns:
            Its row; None when there is none in this direction.

        Raises:
            PinfoldError: The pattern takes too long, or the spool cannot be read.
        """
        hit = await self._search.next(line, forward=forward)
        while hit is not None:
            row = rows.row_at(hit)
            if rows.first <= row < rows.end and rows.line_number(row) == hit:
                return row
            hit = await self._search.next(hit, forward=forward)
        return None


class Finding(Hits):
    """A search, and the hit it stands at.

    Args:
        reader: Of the session.
        query: What to look for.
        passing: Count only lines that this lets pass.

    Attributes:
        query: What to look for.
        hit: The line number of the hit it stands at; None for none yet.
    """

    def __init__(self, reader: SpoolReader, query: Query, passing: Filter | None = None) -> None:
        super().__init__(reader, query, *(() if passing is None else (passing,)))
        self.query = query
        self.hit: int | None = None
        self._ordinal = 0

    async def run(self) -> AsyncIterator[int]:
        """Count hits as they are found, then those that come; yields the count."""
        async for progress in self._search.run():
            if self.hit is not None:
                self._ordinal = await self._search.ordinal(self.hit)
            yield progress.count

    async def go(self, line: int, rows: Rows, *, forward: bool) -> int | None:
        """Stand at the nearest hit; stay where it is when there is none in this direction."""
        row = await super().go(line, rows, forward=forward)
        if row is not None:
            self.hit = rows.line_number(row)
            self._ordinal = await self._search.ordinal(self.hit)
        return row

    @property
    def text(self) -> str:
        """How it stands, in a few words: `/FAILED  3 of 17`."""
        count, growing = self._search.count, "" if self._search.complete else "+"
        asked = f"/{safe(self.query.pattern)}"
        if not count:
            return f"{asked}  {'no hits' if self._search.complete else 'searching'}"
        if self._ordinal:
            return f"{asked}  {self._ordinal:,} of {count:,}{growing}"
        return f"{asked}  {counted(count, 'hit')}{growing}"


def marking(query: Query) -> Marking | None:
    """What marks a query's hits in lines on screen; None when it might take so long as to hold the screen up."""
    flags = re.IGNORECASE if query.ignore_case else 0
    if not query.regex:
        return Marking(re.compile(re.escape(query.pattern), flags), MOST_CHARACTERS)
    if not is_quick(query.pattern):
        return None
    repeats = _REPEATS.search(_bare(query.pattern)) is not None
    return Marking(re.compile(query.pattern, flags), _REPEAT_REACH if repeats else MOST_CHARACTERS)


def is_quick(pattern: str) -> bool:
    """Whether a regular expression takes little time on any short text: it repeats at most one thing, and no group."""
    bare = _bare(pattern)
    return not _SLOW_PARTS.search(bare) and len(_REPEATS.findall(bare)) <= 1 and bare.count("?") <= _MOST_OPTIONAL


def _bare(pattern: str) -> str:
    """A pattern with one letter for each escape and each set of characters."""
    return _ONE_CHARACTER.sub("x", pattern)
