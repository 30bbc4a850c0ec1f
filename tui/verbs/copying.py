"""A session's output, copied out of its spool: as bytes, as lines for people, or as JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Protocol

from services.output import Line, SpoolReader, Stream
from tui.text import printable
from tui.verbs.documents import LineDocument
from tui.verbs.printer import json_lines
from tui.verbs.sgr import drawn

ALL_STREAMS = frozenset(Stream)
OUTPUT_STREAMS = frozenset({Stream.STDOUT, Stream.STDERR})

_BATCH = 4000
_PIECE = 1024 * 1024
_PATIENCE = 1.0
"""Seconds after which a line that has not ended is shown as far as it came."""

Draw = Callable[[Sequence[Line]], str]
"""Writes lines, which have all their bytes, each with a line end."""


class Target(Protocol):
    """Something output is copied to."""

    async def take(self, reader: SpoolReader) -> None:
        """Copy what is new, as far as it can be shown yet."""
        ...

    async def take_rest(self, reader: SpoolReader) -> None:
        """Copy also what was held back, such as a line that has not ended."""
        ...


async def copy_output(reader: SpoolReader, targets: Sequence[Target], *, follow: bool) -> None:
    """Copy output to every target; with `follow` until the output is complete.

    Raises:
        BrokenPipeError: Nobody reads a target any more.
        SpoolError: The output cannot be read.
    """
    while True:
        size, complete = reader.size, reader.complete
        for target in targets:
            await target.take(reader)
        if complete or not follow:
            break
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await reader.changed(size)
        if reader.size == size:
            for target in targets:
                await target.take_rest(reader)
    for target in targets:
        await target.take_rest(reader)


class Bytes:
    """Copies bytes exactly as they came.

    Args:
        descriptor: Where they go.
        streams: Whose bytes.
        start: The first line, counted from 0.
    """

    def __init__(self, descriptor: int, streams: frozenset[Stream], start: int) -> None:
        self._descriptor = descriptor
        self._streams = streams
        self._line = start
        self._copied = 0

    async def take(self, reader: SpoolReader) -> None:
        """Copy what is new, unfinished lines included."""
        if reader.end > self._line:
            await asyncio.to_thread(self._copy, reader, reader.end)

    async def take_rest(self, reader: SpoolReader) -> None:
        """Copy nothing: nothing is held back."""

    def _copy(self, reader: SpoolReader, end: int) -> None:
        """Copy up to line `end` from where the last copy stopped, which may be within a line."""
        skip, open_size = self._copied, 0
        for piece in reader.raw(self._line, end, self._streams):
            newline = piece.rfind(b"\n")
            open_size = open_size + len(piece) if newline < 0 else len(piece) - newline - 1
            if skip < len(piece):
                write_all(self._descriptor, memoryview(piece)[skip:])
            skip = max(skip - len(piece), 0)
        self._line, self._copied = (end - 1, open_size) if open_size else (end, 0)


class Lines:
    """Copies whole lines, drawn as text; a line that has not ended waits a while for its end.

    Args:
        descriptor: Where they go.
        streams: Whose lines.
        start: The first line, counted from 0.
        draw: Writes one line.
        partial: Show an unfinished line as far as it came when nothing happens for a second.
    """

    def __init__(self, descriptor: int, streams: frozenset[Stream], start: int, draw: Draw, *, partial: bool) -> None:
        self._descriptor = descriptor
        self._streams = streams
        self._line = start
        self._draw = draw
        self._partial = partial
        self._shown = 0

    async def take(self, reader: SpoolReader) -> None:
        """Copy the lines that have ended."""
        await self._copy(reader, reader.ended)

    async def take_rest(self, reader: SpoolReader) -> None:
        """Copy the unfinished line too, once output is complete, or when it is to be shown in parts."""
        if reader.complete:
            await self._copy(reader, reader.end)
        elif self._partial:
            await self._show_open(reader)

    async def _copy(self, reader: SpoolReader, end: int) -> None:
        while self._line < end:
            lines = reader.lines(self._line, min(_BATCH, end - self._line))
            if not lines:
                self._line = end
                return
            self._line = lines[-1].number + 1
            wanted = [_whole(reader, line) for line in lines if line.stream in self._streams]
            beginning = self._rest_of_open(wanted, lines[0])
            await self._write(beginning + self._draw(wanted))

    def _rest_of_open(self, wanted: list[Line], first: Line) -> str:
        """Take out a line that was shown in parts before; returns what is left of it."""
        shown, self._shown = self._shown, 0
        if not shown or not wanted or wanted[0].number != first.number:
            return ""
        return f"{printable(wanted.pop(0).data[shown:])}\n"

    async def _show_open(self, reader: SpoolReader) -> None:
        if reader.end == reader.ended:
            return
        for line in reader.lines(reader.ended, 1):
            fresh = reader.rest(line.number, self._shown, _PIECE)
            if line.stream in self._streams and fresh:
                part = replace(line, data=fresh, length=len(fresh))
                text = printable(fresh) if self._shown else self._draw([part]).removesuffix("\n")
                self._shown += len(fresh)
                await self._write(text)

    async def _write(self, text: str) -> None:
        await asyncio.to_thread(write_all, self._descriptor, memoryview(text.encode(errors="replace")))


def _whole(reader: SpoolReader, line: Line) -> Line:
    """A line with all its bytes."""
    if line.length == len(line.data):
        return line
    pieces = [line.data]
    position = len(line.data)
    while position < line.length and (piece := reader.rest(line.number, position, _PIECE)):
        pieces.append(piece)
        position += len(piece)
    return replace(line, data=b"".join(pieces), length=position)


@dataclass(frozen=True)
class AsText:
    """Draws a line for people.

    Attributes:
        times: Put the local time before it.
        clean: Make it act on no terminal; without it characters pass as they are.
        colours: Keep its colours where it is cleaned.
    """

    times: bool
    clean: bool
    colours: bool = False

    def __call__(self, lines: Sequence[Line]) -> str:
        """Draw lines."""
        return "".join([self._line(line) for line in lines])

    def _line(self, line: Line) -> str:
        text = drawn(line.data, colours=self.colours) if self.clean else line.data.decode("utf-8", errors="replace")
        if line.stream is Stream.NOTE:
            text = f"[pinfold] {text}"
        return f"{_stamp(line.at)}  {text}\n" if self.times else f"{text}\n"


@lru_cache(maxsize=256)
def _stamp(at: int) -> str:
    """Write a local time to the millisecond; many lines that came at once share it."""
    if not at:
        return f"{'-':<23}"
    seconds, nanoseconds = divmod(at, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}.{nanoseconds // 1_000_000:03d}"


@dataclass(frozen=True)
class AsJson:
    """Draws each line as a JSON document."""

    session: str

    def __call__(self, lines: Sequence[Line]) -> str:
        """Draw lines."""
        return json_lines([LineDocument.of(self.session, line) for line in lines])


def write_all(descriptor: int, view: memoryview) -> None:
    """Write everything, waiting while the reader is slow.

    Raises:
        BrokenPipeError: The reader is gone.
    """
    while view:
        view = view[os.write(descriptor, view) :]
