"""Cuts what came into blocks of whole lines where it can, one record each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from services.output.model import Cursor, Stream
from services.output.spool.layout import (
    BLOCK_LIMIT,
    CONTINUES,
    MIXED,
    MORE,
    OPEN,
    STREAM_BITS,
    Record,
    Run,
    clamp_count,
    clamp_time,
)

_BLOCK_NANOSECONDS = 250_000_000
_NEWLINE = 10
_PORTION = 1024 * 1024


class Piece(NamedTuple):
    """Bytes of one stream, to be written next."""

    stream: Stream
    data: bytes
    at: int


@dataclass(slots=True)
class Block:
    """A block while it grows; its fields are those of a record."""

    offset: int
    line: int
    at: int
    until: int
    continues: bool
    length: int = 0
    newlines: int = 0
    runs: list[Run] = field(default_factory=list)

    @classmethod
    def reopen(cls, record: Record) -> Block | None:
        """Go on with a block already written; None when it holds several streams, whose runs would be written anew."""
        if record.mixed:
            return None
        runs = [Run(0, Stream(record.flags & STREAM_BITS), added=False)]
        continues = bool(record.flags & CONTINUES)
        return cls(record.offset, record.line, record.at, record.until, continues, record.length, record.newlines, runs)

    @property
    def plain(self) -> bool:
        """Whether one stream wrote every byte, so that no runs are needed."""
        return len(self.runs) == 1 and not self.runs[0].added

    def record(self, cursor: Cursor, runs_at: int, *, is_open: bool, more: bool) -> Record:
        """What the index will say of this block."""
        kind = int(self.runs[0].stream) if self.plain else MIXED
        flags = kind | (CONTINUES if self.continues else 0) | (OPEN if is_open else 0) | (MORE if more else 0)
        return Record(
            self.offset,
            self.line,
            self.at,
            self.until,
            clamp_time(cursor.stdout.at),
            clamp_time(cursor.stderr.at),
            clamp_count(cursor.stdout.count),
            clamp_count(cursor.stderr.count),
            self.length,
            self.newlines,
            runs_at,
            0 if self.plain else len(self.runs),
            flags,
        )


class BlockCutter:
    """Takes pieces in the order they are to be read back.

    Args:
        end: The offset where the next byte will lie.
        line: The number of the line it belongs to.
        open_stream: Whose line the byte before did not end; None when it did.
        last: The block before, when it may still grow.

    Attributes:
        blocks: What was cut; begins with `last` once something was added to it.
        parts: The new bytes.
        newlines: How many lines end in them.
    """

    def __init__(self, end: int, line: int, open_stream: Stream | None, last: Block | None = None) -> None:
        self.end = end
        self.line = line
        self.open_stream = open_stream
        self.blocks: list[Block] = []
        self.parts: list[bytes | memoryview] = []
        self.newlines = 0
        self._block = last

    def add(self, piece: Piece) -> None:
        """Append a piece; ends another stream's open line first."""
        stream, data, at = piece.stream, piece.data, clamp_time(piece.at)
        if data and self.open_stream not in (None, stream):
            self._put(self._block_at(at), Run(0, self.open_stream or stream, added=True), b"\n", 1, at)
        position, size, view = 0, len(data), memoryview(data)
        while position < size:
            block = self._block_at(at)
            stop = self._stop(data, position, BLOCK_LIMIT - block.length)
            if stop == position:
                self._block = self._fresh_block(at)
                continue
            newlines = data.count(b"\n", position, stop)
            self._put(block, Run(0, stream, added=False), view[position:stop], newlines, at)
            position = stop

    def _stop(self, data: bytes, position: int, room: int) -> int:
        """Where to cut: behind the last line end that has room; within a line only when it is longer than a block."""
        if len(data) - position <= room:
            return len(data)
        newline = data.rfind(b"\n", position, position + room)
        if newline >= 0:
            return newline + 1
        return position if room < BLOCK_LIMIT and self.open_stream is None else position + room

    def _block_at(self, at: int) -> Block:
        block = self._block
        if block is None or block.length >= BLOCK_LIMIT or at - block.at >= _BLOCK_NANOSECONDS:
            block = self._block = self._fresh_block(at)
        return block

    def _fresh_block(self, at: int) -> Block:
        return Block(self.end, self.line, at, at, continues=self.open_stream is not None)

    def _put(self, block: Block, run: Run, data: bytes | memoryview, newlines: int, at: int) -> None:
        if not self.blocks or self.blocks[-1] is not block:
            self.blocks.append(block)
        if not block.runs or run.added or block.runs[-1][1:] != run[1:]:
            block.runs.append(run._replace(start=block.length))
        block.length += len(data)
        block.newlines += newlines
        block.until = max(block.until, at)
        self.parts.append(data)
        self.end += len(data)
        self.line += newlines
        self.newlines += newlines
        self.open_stream = None if data[-1] == _NEWLINE else run.stream


def portions(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Split pieces into groups of at most 1 MiB, behind line ends where there are any."""
    group: list[Piece] = []
    size = 0
    for piece in pieces:
        position = 0
        while position < len(piece.data):
            room = _PORTION - size
            stop = len(piece.data)
            if stop - position > room:
                stop = piece.data.rfind(b"\n", position, position + room) + 1 or position + room
            group.append(Piece(piece.stream, piece.data[position:stop], piece.at))
            size += stop - position
            position = stop
            if size >= _PORTION or position < len(piece.data):
                yield group
                group, size = [], 0
    if group:
        yield group
