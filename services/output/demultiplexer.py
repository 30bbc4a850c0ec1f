"""Docker's log stream, `logs?timestamps=1`, into chunks and a cursor."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from typing import NoReturn

from services.errors import SpoolError
from services.output.model import Chunk, Cursor, Stream
from services.output.source import Batch, Source, parse_stamp

_HEADER = struct.Struct(">II")
_STREAMS = {0x00000000: Stream.STDOUT, 0x01000000: Stream.STDOUT, 0x02000000: Stream.STDERR}
_ENGINE_FAILED = 0x03000000
_SMALLEST = 31
_FRAME_LIMIT = 2 * 1024 * 1024
_LINE_LIMIT = 16 * 1024 * 1024
_PART = 16 * 1024
_RECENT = 128 * 1024
_NEWLINE = 10
_SPACE = 32


class Demultiplexer:
    """Takes the stream of one connection in any cuts and returns what was not taken before.

    A line of more than 16 KiB comes in parts that share one instant. They are kept back until the line ends, so that
    the other stream never breaks it, but not beyond 1 MiB or for longer than a second of the source's time.

    Args:
        cursor: Where to resume; what lies at or before it is skipped.
        terminal: The sandbox has a terminal: its output comes without frames.
    """

    def __init__(self, cursor: Cursor | None = None, *, terminal: bool = False) -> None:
        cursor = cursor or Cursor()
        self._stdout = Source(Stream.STDOUT, cursor.stdout)
        self._stderr = Source(Stream.STDERR, cursor.stderr)
        self._terminal = terminal
        self._rest = b""
        self._first = b""
        self._recent: deque[bytes] = deque()
        self._recent_size = 0

    @property
    def cursor(self) -> Cursor:
        """Covers exactly the chunks returned so far; give it to the spool together with them."""
        return Cursor(self._stdout.position, self._stderr.position)

    @property
    def began_at(self) -> int:
        """When the first frame was written, nanoseconds since 1970; 0 before it came."""
        return parse_stamp(self._first) if self._first else 0

    @property
    def repeated(self) -> int:
        """How many frames were skipped because they had been taken before."""
        return self._stdout.repeated + self._stderr.repeated

    @property
    def unfinished(self) -> bool:
        """Whether bytes of an incomplete frame, or of a terminal's incomplete line, wait for the rest."""
        return bool(self._rest)

    @property
    def held(self) -> bool:
        """Whether `flush` would return something: a line that has not ended was kept back."""
        return bool(self._stdout.held or self._stderr.held)

    def feed(self, data: bytes) -> list[Chunk]:
        """Take the next bytes of the connection.

        Returns:
            Chunks in the order they came; neighbours of one stream within a tenth of a second are one chunk.

        Raises:
            SpoolError: The bytes are no such stream, or the engine reports that it cannot read its log.
        """
        batch = Batch()
        buffer = self._rest + data if self._rest else data
        consumed = self._take_lines(buffer, batch) if self._terminal else self._take_frames(buffer, batch)
        if not self._first and consumed:
            self._first = buffer[:30] if self._terminal else buffer[8:38]
        self._rest = buffer[consumed:]
        self._remember(buffer[:consumed])
        self._release_overdue(batch)
        return batch.chunks()

    def flush(self, *, ended: bool = False) -> list[Chunk]:
        """Return what was kept back of lines that have not ended; call it when the source is idle, and at its end.

        Args:
            ended: The source has nothing more, so that a terminal's last line needs no line end.
        """
        batch = Batch()
        if ended and self._terminal and self._rest:
            self._take_line(self._rest, 0, len(self._rest), batch)
            self._rest = b""
        for source in (self._stdout, self._stderr):
            source.release(batch)
        return batch.chunks()

    def _take_frames(self, buffer: bytes, batch: Batch) -> int:
        """Walk the frames and return how many bytes were consumed; the one loop here that runs for every line."""
        unpack = _HEADER.unpack_from
        position, end = 0, len(buffer)
        add: Callable[[bytes | memoryview], None] = bytearray().extend
        word, source, last, until, held = -1, self._stdout, b"", b"", False
        latest = -1  # where the last frame of `source` starts that it was not told of yet
        while end - position >= 8:
            header, size = unpack(buffer, position)
            after = position + 8 + size
            if size < _SMALLEST or after > end:
                if after <= end or size > _FRAME_LIMIT or header not in _STREAMS:
                    self._source(buffer, position, header, after)
                    _refuse(buffer, position)
                break
            if header != word:
                if latest >= 0:
                    source.took(last, buffer[latest + 39 : position])
                    latest = -1
                source, word = self._source(buffer, position, header, after), header
                last, until, held = source.last, b"", source.unsettled
            stamp = buffer[position + 8 : position + 38]
            if stamp > last and buffer[after - 1] == _NEWLINE and not held:
                last, latest = stamp, position
                if stamp > until:
                    add, until = batch.begin(source, stamp)
                add(buffer[position + 39 : after])
            else:
                if latest >= 0:
                    source.took(last, buffer[latest + 39 : position])
                    latest = -1
                self._take(source, stamp, buffer[position + 39 : after], batch, buffer, position)
                last, until, held = source.last, b"", source.unsettled
            position = after
        if latest >= 0:
            source.took(last, buffer[latest + 39 : position])
        return position

    def _take(self, source: Source, stamp: bytes, data: bytes, batch: Batch, buffer: bytes, position: int) -> None:
        """Take a frame that is not simply the next line; one from the past is new only if the clock was set back."""
        if stamp < source.last and (source.resuming or self._was_met(stamp, buffer, position)):
            source.repeated += 1
        else:
            source.take(stamp, data, batch)

    def _was_met(self, stamp: bytes, buffer: bytes, position: int) -> bool:
        return buffer.find(stamp, 0, position) >= 0 or any(stamp in earlier for earlier in self._recent)

    def _remember(self, buffer: bytes) -> None:
        self._recent.append(buffer)
        self._recent_size += len(buffer)
        while self._recent_size - len(self._recent[0]) > _RECENT:
            self._recent_size -= len(self._recent.popleft())

    def _source(self, buffer: bytes, position: int, header: int, after: int) -> Source:
        stream = _STREAMS.get(header)
        if stream is None:
            if header == _ENGINE_FAILED:
                words = buffer[position + 8 : after].decode(errors="replace").strip()
                raise SpoolError("the engine cannot read its log", why=words)
            _refuse(buffer, position)
        return self._stdout if stream is Stream.STDOUT else self._stderr

    def _take_lines(self, buffer: bytes, batch: Batch) -> int:
        position = 0
        while (newline := buffer.find(b"\n", position)) >= 0:
            self._take_line(buffer, position, newline + 1, batch)
            position = newline + 1
        if len(buffer) - position > _LINE_LIMIT:
            raise SpoolError("cannot read the engine's output", why="a line of a terminal is longer than 16 MiB")
        return position

    def _take_line(self, buffer: bytes, start: int, end: int, batch: Batch) -> None:
        """Take one line of a terminal: a stamp, then its bytes, with the stamp again after every 16 KiB."""
        prefix = buffer[start : start + 31]
        if end - start < 31 or prefix[30] != _SPACE:
            _refuse(buffer, start)
        position = start
        while position < end:
            after = position + 31 + _PART
            if not buffer.startswith(prefix, after, end):
                after = end
            self._take(self._stdout, prefix[:30], buffer[position + 31 : after], batch, buffer, start)
            position = after

    def _release_overdue(self, batch: Batch) -> None:
        for source, other in ((self._stdout, self._stderr), (self._stderr, self._stdout)):
            if source.held and other.last and parse_stamp(other.last) - source.held_since > 1_000_000_000:
                source.release(batch)


def _refuse(buffer: bytes, position: int) -> NoReturn:
    raise SpoolError(
        "cannot read the engine's output",
        why=f"it is not framed as Docker's log stream: {buffer[position : position + 48]!r}",
        fix="Check that the engine is Docker, and whether the sandbox has a terminal.",
    )
