"""One stream of an engine's log: what was taken, what is a repeat, what waits for its line's end."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import lru_cache

from services.errors import SpoolError
from services.output.model import Chunk, Position, Stream

_HELD_LIMIT = 1024 * 1024
_PART = 16 * 1024
"""Bytes of every part of a long line but the last."""

_TENTH_OF_SECOND = 21
_NANOSECONDS = 1_000_000_000


class Batch:
    """Gathers neighbouring frames of one stream into chunks."""

    def __init__(self) -> None:
        self._source: Source | None = None
        self._until = b""
        self._parts: list[bytes | memoryview] = []
        self._begun: list[tuple[Stream, bytes, list[bytes | memoryview]]] = []

    def begin(self, source: Source, stamp: bytes) -> tuple[Callable[[bytes | memoryview], None], bytes]:
        """Open a chunk unless the last one will do.

        Returns:
            What appends to the chunk, and up to which stamp it takes frames.
        """
        if source is not self._source or stamp > self._until:
            self._source = source
            self._until = stamp[:_TENTH_OF_SECOND] + b"\xff"
            self._parts = []
            self._begun.append((source.stream, stamp, self._parts))
        return self._parts.append, self._until

    def chunks(self) -> list[Chunk]:
        """What was gathered."""
        return [Chunk(stream, b"".join(parts), parse_stamp(stamp)) for stream, stamp, parts in self._begun]


class Source:
    """What is known of one stream of the source.

    Attributes:
        last: The stamp of the last frame taken, b"" before the first.
        held: Parts of a line that has not ended, taken and not returned yet.
        held_since: When the first of them was written, nanoseconds since 1970.
        repeated: How many frames were skipped.
    """

    def __init__(self, stream: Stream, position: Position) -> None:
        self.stream = stream
        self.last = format_stamp(position.at)
        self.held: list[bytes] = []
        self.held_since = 0
        self.repeated = 0
        self._held_size = 0
        self._count = position.count
        self._tail = b""
        self._open = False
        self._resumed_at = self.last
        self._skip = position.count
        self._before = position
        self._instant: list[int] = []
        self._instant_at = b""
        self._again = 0

    @property
    def resuming(self) -> bool:
        """Whether nothing newer than the position to resume from was met yet."""
        return self.last == self._resumed_at

    @property
    def unsettled(self) -> bool:
        """Whether the last line lacks its end, returned or not."""
        return self._open or bool(self.held)

    @property
    def position(self) -> Position:
        """The last frame returned; parts held back are not in it."""
        if self.held:
            return self._before
        return Position(parse_stamp(self.last), self._count) if self.last else Position()

    def took(self, stamp: bytes, data: bytes) -> None:
        """Note the last of several whole lines that went straight to the batch, each at an instant of its own."""
        self.last, self._count, self._tail, self._open = stamp, 1, data, False

    def take(self, stamp: bytes, data: bytes, batch: Batch) -> None:
        """Take any frame: skip it when it repeats this instant, hold it back when its line has not ended."""
        if stamp == self.last and self._repeats_instant(stamp, data):
            self.repeated += 1
            return
        end_left_out = self._open and stamp == self.last and self._is_last_part(data)
        ends = end_left_out or data.endswith(b"\n")
        if not ends and not self.held:
            self._before = self.position
            self.held_since = parse_stamp(stamp)
        if stamp == self.last:
            self._count += 1
            self._instant.append(hash(data))
        else:
            if self._open:
                self.held.append(b"\n")  # another instant is another line
            self.last, self._count = stamp, 1
        self._again = 0
        self._tail = data
        self._open = not ends
        self.held.append(data + b"\n" if end_left_out else data)
        self._held_size += len(data)
        if ends or self._held_size > _HELD_LIMIT:
            self.release(batch)

    def release(self, batch: Batch) -> None:
        """Return the parts held back."""
        if self.held:
            add, _ = batch.begin(self, self.last)
            add(b"".join(self.held))
            self.held = []
            self._held_size = 0

    def _repeats_instant(self, stamp: bytes, data: bytes) -> bool:
        if self._instant_at != stamp:
            self._instant_at, self._again = stamp, 0
            self._instant = [] if self.resuming else [hash(self._tail)]
        if self.resuming and self._skip:
            self._skip -= 1
            self._instant.append(hash(data))
            self._tail = data
            self._open = not (data.endswith(b"\n") or (self._open and self._is_last_part(data)))
            return True
        if self._instant and self._open:
            return False  # the next part of a long line
        if self._again < len(self._instant) and self._instant[self._again] == hash(data):
            self._again += 1  # at a rotation the engine repeats its last line
            return True
        return False

    @staticmethod
    def _is_last_part(data: bytes) -> bool:
        """Whether a part ends its line although it does not say so, as the driver `local` of Docker 20.10 leaves it."""
        return len(data) < _PART and not data.endswith(b"\n")


@lru_cache(maxsize=64)
def _seconds(text: bytes) -> int:
    return int(datetime.datetime.fromisoformat(text.decode("ascii") + "+00:00").timestamp())


def parse_stamp(stamp: bytes) -> int:
    """Read an instant as the engine writes it, `2026-01-31T12:00:00.000000000Z`, in nanoseconds since 1970.

    Raises:
        SpoolError: It is none.
    """
    try:
        if len(stamp) != 30 or stamp[19:20] != b"." or stamp[29:] != b"Z" or not stamp[20:29].isdigit():
            raise ValueError(stamp)
        return _seconds(stamp[:19]) * _NANOSECONDS + int(stamp[20:29])
    except ValueError as error:
        raise SpoolError("cannot read the engine's output", why=f"{stamp!r} is not a time") from error


def format_stamp(at: int) -> bytes:
    """Write an instant as the engine does; b"" for 0, which comes before every instant."""
    if at <= 0:
        return b""
    seconds, nanoseconds = divmod(at, _NANOSECONDS)
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds:09}Z".encode()
