"""What a session's output is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Stream(IntEnum):
    """Where a line came from."""

    STDOUT = 1
    STDERR = 2
    NOTE = 3
    """Pinfold's own remark in between, such as a count of lines that were lost."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of one stream as they came, cut anywhere.

    Attributes:
        at: Nanoseconds since 1970 of the first byte.
    """

    stream: Stream
    data: bytes
    at: int


@dataclass(frozen=True, slots=True)
class Position:
    """How far one stream of a source was taken in.

    Attributes:
        at: The source's time of the last line taken, nanoseconds since 1970; 0 before the first.
        count: How many frames carried exactly that time.
    """

    at: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where to resume reading a source: a position for each of stdout and stderr."""

    stdout: Position = Position()
    stderr: Position = Position()


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output.

    Attributes:
        number: Counted from 0 over the whole session, dropped lines included.
        at: When its block of output arrived, nanoseconds since 1970; 0 when unknown.
        data: Its bytes without the line end, cut to what was asked for.
        length: How many bytes it has in all.
    """

    number: int
    stream: Stream
    at: int
    data: bytes
    length: int
