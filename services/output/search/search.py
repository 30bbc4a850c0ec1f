"""Searching a session's output: how many lines match, the next one, and which one of all this is."""

from __future__ import annotations

from services.output.search.matchers import Matcher, matcher_for
from services.output.search.matching import Matching
from services.output.search.query import Filter, Query
from services.output.spool.reader import SpoolReader

_BACK_BYTES = 1024 * 1024
_STRETCHES_A_STEP = 8


class Search(Matching):
    """The matches of a query, or the lines a filter lets pass, such as all errors.

    `run` counts them; `next` finds its way whether they were counted already or not.

    Args:
        reader: Of the session; the search reads with one of its own.
        wanted: What to look for; a line must fit all of it.
    """

    def __init__(self, reader: SpoolReader, *wanted: Query | Filter) -> None:
        super().__init__(reader.directory, *wanted)
        self._jumper: Matcher | None = None

    async def next(self, line: int, *, forward: bool = True) -> int | None:
        """The nearest match above a line, or below it; the line itself does not count.

        Args:
            line: May be -1 to find the first, or the reader's `end` to find the last.
            forward: Towards newer lines.

        Returns:
            The number of a line; None when there is none in this direction.

        Raises:
            PinfoldError: The pattern takes too long, or the spool cannot be read.
        """
        return await (self._next_above(line) if forward else self._next_below(line))

    async def ordinal(self, line: int) -> int:
        """Which match a line is, counted from 1, as in "3 of 17"; 0 while the count has not come that far."""
        return self._found.rank(line + 1) if line < self._progress.searched else 0

    async def _next_above(self, line: int) -> int | None:
        known = self._found.next(line)
        if known is not None:
            return known
        start: int | None = max(line + 1, self._progress.searched)
        hit = None
        while hit is None and start is not None and not self._closed:
            hit, start = await self._calls.run(self._look_up, start)
        return hit

    async def _next_below(self, line: int) -> int | None:
        while line > self._progress.searched and not self._closed:
            hit, line = await self._calls.run(self._look_down, line)
            if hit is not None:
                return hit
        return self._found.previous(line)

    def _look_up(self, start: int) -> tuple[int | None, int | None]:
        """Look for a match from a line on; returns it, or where to go on."""
        with self._reading() as reader:
            start = max(start, reader.first)
            line = start
            for number, stretch in enumerate(reader.stretches(reader.offset_of(start))):
                hit = next((line for line in self._jump_matcher(stretch) if line >= start), None)
                if hit is not None:
                    return hit, None
                line = stretch.next_line
                if number >= _STRETCHES_A_STEP or self._closed:
                    return None, line
            return None, None

    def _look_down(self, line: int) -> tuple[int | None, int]:
        """Look for a match in the lines shortly before one; returns it, and where to go on."""
        with self._reading() as reader:
            line = min(line, reader.end)
            start = reader.line_back(line, _BACK_BYTES)
            found = -1
            for stretch in reader.stretches(reader.offset_of(start)):
                if stretch.line >= line:
                    break
                found = max((hit for hit in self._jump_matcher(stretch) if start <= hit < line), default=found)
            if found >= 0:
                return found, start
            return None, start if start > reader.first else 0

    @property
    def _jump_matcher(self) -> Matcher:
        if self._jumper is None:
            self._jumper = matcher_for(*self._wanted)
        return self._jumper

    def _stop_matchers(self) -> None:
        super()._stop_matchers()
        if self._jumper is not None:
            self._jumper.stop()
