"""Goes through a spool once to find lines, and keeps up with what is added."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from services.home import BlockingCalls
from services.output.search.line_set import LineSet, Mask, mask_of
from services.output.search.matchers import matcher_for
from services.output.search.query import Filter, Query
from services.output.spool.reader import LOOK_AHEAD, SpoolReader

_STEP_SECONDS = 0.03
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class MatchProgress:
    """How far the lines of a session were looked at.

    Attributes:
        count: Lines that match so far.
        searched: Lines before this one were looked at.
        end: The line behind the newest one.
        complete: All there is was looked at; more may come.
    """

    count: int
    searched: int
    end: int
    complete: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """What one go of the thread found.

    Attributes:
        first: The oldest line still kept.
        redone_from: Lines from here on were looked at, some again.
        found: The lines of them that match.
        offset: Where to go on.
        final: Nothing more will come.
    """

    first: int
    redone_from: int
    found: list[Mask]
    offset: int
    searched: int
    end: int
    caught_up: bool
    final: bool


class Matching:
    """The lines of a session that match, found in a thread of its own with a reader of its own.

    Close it when it is no longer shown.

    Args:
        directory: The spool's.
        wanted: What to look for; a line must fit all of it.
    """

    def __init__(self, directory: Path, *wanted: Query | Filter) -> None:
        self._directory = directory
        self._wanted = wanted
        self._matcher = matcher_for(*wanted)
        self._calls = BlockingCalls(1, "pinfold-search")
        self._reader: SpoolReader | None = None
        self._in_use = threading.Lock()
        self._closed = False
        self._found = LineSet()
        self._offset = 0
        self._seen_size = -1
        self._progress = MatchProgress(0, 0, 0, complete=False)

    @property
    def progress(self) -> MatchProgress:
        """How far it has come."""
        return self._progress

    @property
    def count(self) -> int:
        """Lines that match so far."""
        return len(self._found)

    @property
    def complete(self) -> bool:
        """Whether all there is was looked at; more may come."""
        return self._progress.complete

    async def run(self) -> AsyncGenerator[MatchProgress, None]:
        """Look through all lines, oldest first, then through new ones as they come; cancel it at any time.

        Yields:
            How far it is: at once with the first match, then many times a second while it goes on. It ends when the
            output is complete.

        Raises:
            PinfoldError: The pattern takes too long, or the spool cannot be read.
        """
        told: MatchProgress | None = None
        while not self._closed:
            step = await self._calls.run(self._go_on, self._offset, self._progress.searched, until_hit=not self._found)
            self._take(step)
            if self._progress != told:
                told = self._progress
                yield told
            if step.caught_up:
                if step.final:
                    return
                await asyncio.sleep(_POLL_SECONDS)

    def close(self) -> None:
        """End what runs and free the files."""
        self._closed = True
        self._stop_matchers()
        self._free()
        self._calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stop_matchers(self) -> None:
        self._matcher.stop()

    def _take(self, step: _Step) -> None:
        self._found.drop_before(step.first)
        self._found.truncate(step.redone_from)
        for mask in step.found:
            self._found.add(mask)
        self._offset = step.offset
        self._progress = MatchProgress(len(self._found), step.searched, step.end, step.caught_up)

    def _go_on(self, offset: int, searched: int, *, until_hit: bool) -> _Step:
        """Look at what follows an offset for some milliseconds; runs in the thread."""
        with self._reading() as reader:
            final = reader.complete
            if reader.size == self._seen_size and self._progress.complete:
                return _Step(reader.first, reader.end, [], offset, searched, reader.end, True, final)
            offset = min(offset, reader.size)  # a writer that crashed may have left less
            until = time.monotonic() + _STEP_SECONDS
            found: list[Mask] = []
            redone_from = None
            stretch = None
            for stretch in reader.stretches(offset):
                if redone_from is None:
                    redone_from = stretch.line + stretch.continues
                lines = self._matcher(stretch)
                offset, searched = stretch.end, stretch.next_line
                if lines:
                    found.append(mask_of(lines))
                if self._closed or time.monotonic() > until or (found and until_hit):
                    break
            caught_up = offset >= reader.size
            if caught_up:
                self._seen_size = reader.size
            if stretch is not None and caught_up and stretch.open:
                started = reader.offset_of(searched)
                if offset - started < LOOK_AHEAD:
                    offset = started  # it is looked at again when more of it has come
            end = reader.end
            return _Step(
                reader.first,
                end if redone_from is None else redone_from,
                found,
                offset,
                searched,
                end,
                caught_up,
                final,
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[SpoolReader]:
        """The thread's own reader, with what was written meanwhile."""
        try:
            with self._in_use:
                if self._reader is None:
                    self._reader = SpoolReader(self._directory)
                self._reader.refresh()
                yield self._reader
        finally:
            if self._closed:
                self._free()

    def _free(self) -> None:
        """Free the reader, unless the thread is using it and will do so itself."""
        if self._in_use.acquire(blocking=False):
            try:
                if self._reader is not None:
                    self._reader.close()
                    self._reader = None
            finally:
                self._in_use.release()
