"""Names of a spool's files, and what is in those that are not output: records and runs.

A session's output is one run of bytes, counted from 0, kept in segments. Segment `n` starts at byte `n`:

    000000000000.out      the bytes
    000000000000.index    fixed-size records, one for each block of at most 64 KiB
    000000000000.runs     for blocks of several streams: which bytes are whose
    figures               what was dropped and lost, and whether all output is there
    writer.lock           locked by the one process that writes
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import NamedTuple

from services.output.model import Cursor, Position, Stream

BLOCK_LIMIT = 64 * 1024
LOCK_NAME = "writer.lock"

MIXED = 0x0F
STREAM_BITS = 0x0F
ADDED_NEWLINE = 0x10
CONTINUES = 0x20
OPEN = 0x40
MORE = 0x80

_FIELDS = struct.Struct("=QQQQQQIIIIIII")
_SUM = struct.Struct("=I")
RECORD_SIZE = _FIELDS.size + _SUM.size
OFFSET_AT = 0
LINE_AT = 8
UNTIL_AT = 24
_RUN = struct.Struct("=II")
RUN_SIZE = _RUN.size
_U32 = 0xFFFFFFFF
_U64 = 0xFFFFFFFFFFFFFFFF


def data_name(start: int) -> str:
    """The file of a segment's bytes."""
    return f"{start:012d}.out"


def index_name(start: int) -> str:
    """The file of a segment's records."""
    return f"{start:012d}.index"


def runs_name(start: int) -> str:
    """The file of a segment's runs."""
    return f"{start:012d}.runs"


def segment_starts(directory: Path) -> list[int]:
    """The segments there are, oldest first.

    Raises:
        OSError: The directory cannot be listed.
    """
    names = (path.name for path in directory.iterdir())
    return sorted(int(name[:-6]) for name in names if name.endswith(".index") and name[:-6].isdigit())


class Record(NamedTuple):
    """What the index says of one block; native byte order on disk, followed by a CRC-32.

    Attributes:
        offset: Of its first byte, over the whole session.
        line: Number of the line its first byte belongs to.
        at, until: When its first and last bytes came, nanoseconds since 1970.
        stdout_at, stderr_at, stdout_count, stderr_count: Where the source stood behind this block.
        length: In bytes.
        newlines: How many lines end in it.
        runs_at, runs_count: Its part of the runs file, counted in runs; none when it has one stream.
        flags: The stream or MIXED, and: CONTINUES (its first byte does not start a line), OPEN (its last byte does not
            end one), MORE (valid only together with the record behind it).
    """

    offset: int
    line: int
    at: int
    until: int
    stdout_at: int
    stderr_at: int
    stdout_count: int
    stderr_count: int
    length: int
    newlines: int
    runs_at: int
    runs_count: int
    flags: int

    @property
    def end(self) -> int:
        """The offset behind its last byte."""
        return self.offset + self.length

    @property
    def next_line(self) -> int:
        """Number of the line that goes on or starts behind it."""
        return self.line + self.newlines

    @property
    def mixed(self) -> bool:
        """Whether it needs runs to tell its streams."""
        return self.flags & STREAM_BITS == MIXED

    @property
    def cursor(self) -> Cursor:
        """Where the source stood behind this block."""
        return Cursor(Position(self.stdout_at, self.stdout_count), Position(self.stderr_at, self.stderr_count))


def pack_record(record: Record) -> bytes:
    """Write a record with its sum."""
    fields = _FIELDS.pack(*record)
    return fields + _SUM.pack(zlib.crc32(fields))


def unpack_record(data: bytes, at: int = 0) -> Record | None:
    """Read a record; None when it is torn."""
    if len(data) - at < RECORD_SIZE:
        return None
    end = at + _FIELDS.size
    if zlib.crc32(data[at:end]) != _SUM.unpack_from(data, end)[0]:
        return None
    return Record._make(_FIELDS.unpack_from(data, at))


def clamp_time(at: int) -> int:
    """Bring a time into what a record can hold."""
    return min(max(at, 0), _U64)


def clamp_count(count: int) -> int:
    """Bring a count into what a record can hold."""
    return min(max(count, 0), _U32)


class Run(NamedTuple):
    """Bytes of one stream in a block.

    Attributes:
        start: Of its first byte, within the block.
        stream: Whose they are.
        added: They are a line end that the spool added and the stream never wrote.
    """

    start: int
    stream: Stream
    added: bool


def pack_runs(runs: list[Run]) -> bytes:
    """Write the runs of a block."""
    return b"".join(_RUN.pack(start, stream | (ADDED_NEWLINE if added else 0)) for start, stream, added in runs)


def unpack_runs(data: bytes, length: int) -> list[Run] | None:
    """Read the runs of a block of `length` bytes; None when they make no sense."""
    runs: list[Run] = []
    streams = set(Stream)
    if len(data) % RUN_SIZE:
        return None
    for start, code in _RUN.iter_unpack(data):
        stream = code & STREAM_BITS
        if stream not in streams or start >= length or (runs and start <= runs[-1].start):
            return None
        runs.append(Run(start, Stream(stream), bool(code & ADDED_NEWLINE)))
    return runs if runs and runs[0].start == 0 else None
