"""Reads a session's output while it grows: any number of readers, in any process."""

from __future__ import annotations

import asyncio
import bisect
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from services.errors import SpoolError
from services.output.model import Line, Stream
from services.output.spool.figures import Figures, FiguresFile
from services.output.spool.layout import OPEN, Run
from services.output.spool.segments import Block, Segments
from services.output.spool.stretch import Stretch

_OUTPUT = frozenset({Stream.STDOUT, Stream.STDERR})
_CUT = 4000
_POLL_SECONDS = 0.05
_IDLE_POLL_SECONDS = 0.1
_IDLE_POLLS = 20
_PIECE = 1024 * 1024
_STRETCH = 256 * 1024
LOOK_AHEAD = 64 * 1024


class SpoolReader:
    """A session's output, for one thread at a time.

    Opening costs the same for any size. Lines are numbered from 0 over the whole session; when the oldest output was
    dropped, `first` is larger than 0 and the numbers stay what they were.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._segments = Segments(directory)
        self._figures_file: FiguresFile | None = None
        self._figures = Figures()

    @classmethod
    def open(cls, directory: Path) -> SpoolReader:
        """Open a spool; one that is empty or does not exist yet has no lines.

        Raises:
            SpoolError: It cannot be read.
        """
        reader = cls(directory)
        reader.refresh()
        return reader

    def close(self) -> None:
        """Free the files; there are no lines any more."""
        self._segments.close()
        if self._figures_file is not None:
            self._figures_file.close()
            self._figures_file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def first(self) -> int:
        """The oldest line still kept; its beginning may be gone."""
        return self._segments.first.line if self._segments else self._figures.first_line

    @property
    def end(self) -> int:
        """The number behind the newest line, which may not have ended yet."""
        if not self._segments:
            return self._figures.first_line
        last = self._segments.last
        return last.next_line + (1 if last.flags & OPEN else 0)

    @property
    def ended(self) -> int:
        """The number behind the newest line that has ended; `end`, or one less."""
        return self._segments.last.next_line if self._segments else self._figures.first_line

    @property
    def size(self) -> int:
        """Bytes of output ever written, dropped ones included; differs whenever there is more to see."""
        return self._segments.last.end if self._segments else self._figures.first_offset

    @property
    def dropped_lines(self) -> int:
        """Lines dropped to keep to the session's limit."""
        return self.first

    @property
    def dropped_bytes(self) -> int:
        """Bytes dropped to keep to the session's limit."""
        return self._segments.first.offset if self._segments else self._figures.first_offset

    @property
    def lost_lines(self) -> int:
        """Lines that could not be written."""
        return self._figures.lost_lines + self._figures.pending_lines

    @property
    def lost_bytes(self) -> int:
        """Bytes that could not be written."""
        return self._figures.lost_bytes + self._figures.pending_bytes

    @property
    def complete(self) -> bool:
        """Whether all output is there and nothing more will come."""
        return bool(self._figures.complete)

    def refresh(self) -> bool:
        """Take in what was written since; whether anything changed. Costs a few system calls.

        Raises:
            SpoolError: The files cannot be read.
        """
        before = self._state
        try:
            self._figures_file = self._figures_file or FiguresFile.find(self.directory)
            if self._figures_file is not None:
                self._figures = self._figures_file.read() or self._figures
            self._segments.refresh(self._figures.first_offset)
        except OSError as error:
            raise SpoolError(f"cannot read output in {self.directory}", why=error.strerror or str(error)) from error
        return before != self._state

    async def changed(self, seen_size: int) -> None:
        """Wait until `size` is not `seen_size`, or the first line, the losses or completeness change.

        Raises:
            SpoolError: The files cannot be read.
        """
        before, polls = self._state, 0
        self.refresh()
        while self.size == seen_size and self._state == before:
            await asyncio.sleep(_POLL_SECONDS if polls < _IDLE_POLLS else _IDLE_POLL_SECONDS)
            polls += 1
            self.refresh()

    @property
    def _state(self) -> tuple[Figures, int, int, int]:
        return self._figures, self.size, self.first, self.end

    def lines(self, start: int, count: int, cut: int = _CUT) -> list[Line]:
        """Read lines for a screen.

        Args:
            start: The first line's number; lines before `first` are left out.
            count: How many; fewer are returned at the end.
            cut: At most this many bytes of each line are read; `Line.length` tells how many there are.

        Raises:
            SpoolError: The index is damaged there.
        """
        number = max(start, self.first)
        stop = min(start + count, self.end)
        found: list[Line] = []
        while number < stop:
            before = number
            for block in self._segments.blocks(self._segments.starting(number)):
                taken = self._lines_of(block, number, stop, cut)
                found += taken
                number += len(taken)
                if number >= stop or not taken or block.record.flags & OPEN:
                    break
            if number == before:
                break
        return found

    def rest(self, number: int, offset: int, limit: int) -> bytes:
        """Read bytes of one long line.

        Args:
            number: The line's.
            offset: The first byte wanted, counted within the line.
            limit: At most this many are returned.

        Raises:
            SpoolError: The index is damaged there.
        """
        if not self.first <= number < self.end:
            return b""
        start, end = self._start_of(number) + offset, self._end_of(number)
        return self._segments.read(start, min(limit, end - start))

    def last_state(self, line: Line, limit: int = _CUT) -> Line:
        """A line that was cut and rewrites itself with carriage returns, from its end; any other as it is.

        Args:
            line: As `lines` gave it.
            limit: At most this many bytes of its end are looked at.

        Raises:
            SpoolError: The index is damaged there.
        """
        if len(line.data) == line.length or b"\r" not in line.data:
            return line
        states = self.rest(line.number, max(0, line.length - limit), limit).partition(b"\r")[2]
        return replace(line, data=states, length=len(states)) if states.strip(b"\r") else line

    def raw(
        self, start: int | None = None, end: int | None = None, streams: Collection[Stream] = _OUTPUT
    ) -> Iterator[bytes]:
        """Bytes exactly as they came, in the order they were written; blocks, so iterate in a thread.

        Args:
            start: The first line; None is the oldest.
            end: The line behind the last; None is all there is.
            streams: Whose bytes; Pinfold's own remarks are left out unless asked for.

        Yields:
            Up to 1 MiB at a time.

        Raises:
            SpoolError: The spool cannot be read.
        """
        with SpoolReader.open(self.directory) as reader:
            gathered: list[bytes] = []
            size = 0
            for part in reader._wanted(start, end, frozenset(streams)):
                gathered.append(part)
                size += len(part)
                if size >= _PIECE:
                    yield b"".join(gathered)
                    gathered, size = [], 0
            if gathered:
                yield b"".join(gathered)

    def stretches(self, offset: int) -> Iterator[Stretch]:
        """All output from an offset on in pieces of about 256 KiB, for going through all of it; iterate in a thread.

        Raises:
            SpoolError: The spool is damaged.
        """
        return self._segments.stretches(offset, _STRETCH, LOOK_AHEAD)

    def offset_of(self, number: int) -> int:
        """Where a line starts, counted in bytes over the whole session; `size` when it has not come yet."""
        return self._start_of(number) if number < self.end else self.size

    def line_back(self, number: int, size: int) -> int:
        """A line about so many bytes before another, at least one line before it and never older than `first`."""
        place = self._segments.at_offset(max(self.dropped_bytes, self.offset_of(number) - size))
        line = self.first if place is None else self._segments.record(place).line
        return max(self.first, min(line, number - 1))

    def line_at(self, at: int) -> int:
        """The first line of a block that has output of this time or later; `end` when there is none.

        Args:
            at: Nanoseconds since 1970.
        """
        place = self._segments.from_time(at)
        return self.end if place is None else self._segments.record(place).line

    def _lines_of(self, block: Block, number: int, stop: int, cut: int) -> list[Line]:
        """The lines from `number` on that start in a block; that line must."""
        record = block.record
        runs = self._segments.runs(block)
        pieces = block.data.split(b"\n")
        skipped = number - record.line
        position = sum(map(len, pieces[:skipped])) + skipped
        found = []
        for piece in pieces[skipped : stop - record.line]:
            length = len(piece)
            following = position + length + 1
            if following > record.length:  # its end is in another block, or nowhere yet
                if position >= record.length:
                    break
                length = self._end_of(number) - record.offset - position
                piece = self._segments.read(record.offset + position, min(length, cut))
            found.append(Line(number, _stream_at(runs, position), record.at, piece[:cut], length))
            number += 1
            position = following
        return found

    def _start_of(self, number: int) -> int:
        for block in self._segments.blocks(self._segments.starting(number)):
            return block.record.offset + _behind_newlines(block, number - block.record.line)
        return self.size

    def _end_of(self, number: int) -> int:
        """The offset behind a line's last byte, its line end not counted."""
        for block in self._segments.blocks(self._segments.ending(number)):
            return block.record.offset + _behind_newlines(block, number - block.record.line + 1) - 1
        return self.size

    def _wanted(self, start: int | None, end: int | None, streams: frozenset[Stream]) -> Iterator[bytes]:
        first = self.first if start is None else max(start, self.first)
        last = self.end if end is None else min(end, self.end)
        if first >= last:
            return
        position = self._start_of(first)
        stop = self.size if last == self.end else self._start_of(last)
        for block in self._segments.blocks(self._segments.starting(first)):
            record, data = block.record, block.data
            if record.offset >= stop:
                return
            runs = self._segments.runs(block)
            for run, following in zip(runs, [*runs[1:], None], strict=True):
                if run.stream in streams and not run.added:
                    run_end = record.length if following is None else following.start
                    yield data[max(run.start, position - record.offset) : min(run_end, stop - record.offset)]


def _behind_newlines(block: Block, count: int) -> int:
    """The position in a block behind its first `count` line ends."""
    pieces = block.data.split(b"\n", count)
    return sum(map(len, pieces[:count])) + count


def _stream_at(runs: list[Run], position: int) -> Stream:
    if len(runs) == 1:
        return runs[0].stream
    return runs[bisect.bisect_right(runs, position, key=lambda run: run.start) - 1].stream
