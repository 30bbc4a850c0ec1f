"""HTTP/1.x as the engine speaks it: one request a connection, its answer's head, and a body of any framing.

No length the engine names is trusted with memory: bytes are passed on as they come, and everything that has to be
gathered (heads, chunk sizes, trailers) has a limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from services.sandbox.engines.docker.connection import Connection

_HEAD_LIMIT = 64 * 1024
_SIZE_LINE_LIMIT = 256
_TRAILER_LIMIT = 16 * 1024
_SIZES_KNOWN = 4096
_DIGITS_LIMIT = 15


class BadAnswer(ConnectionError):
    """What came is no HTTP, or ended in the middle."""


class Framing(Protocol):
    """Finds the end of a body.

    Attributes:
        complete: The whole body was seen, by the engine's own word.
    """

    complete: bool

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the connection and return those of the body.

        Raises:
            BadAnswer: They break the rules.
        """
        ...

    def end(self) -> None:
        """Learn that the connection was closed.

        Raises:
            BadAnswer: The body was not complete.
        """
        ...


class UntilClosed:
    """A body that lasts as long as the connection; whether it is whole cannot be told."""

    complete = False

    def feed(self, data: bytes) -> bytes:
        """Pass everything on."""
        return data

    def end(self) -> None:
        """Accept any end."""


class Counted:
    """A body of a length named before."""

    def __init__(self, length: int) -> None:
        self._missing = length
        self.complete = length == 0

    def feed(self, data: bytes) -> bytes:
        """Count down."""
        body = data[: self._missing]
        self._missing -= len(body)
        self.complete = self._missing == 0
        return body

    def end(self) -> None:
        """Refuse an end before the last byte."""
        if not self.complete:
            raise BadAnswer("the connection ended in the middle of an answer")


class Chunked:
    """A body in chunks, each behind its size in hexadecimal, ended by one of size 0."""

    def __init__(self) -> None:
        self.complete = False
        self._rest = b""
        self._missing = 0  # of the current chunk, its line end included
        self._sizes: dict[bytes, int] = {}
        self._in_trailer = False
        self._trailer_size = 0

    def feed(self, data: bytes) -> bytes:
        """Take the chunks' frames off; of a log each line is a chunk."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        parts: list[bytes] = []
        sizes = self._sizes
        position, end = 0, len(data)
        while position < end and not self.complete:
            if self._missing:
                position += self._take_payload(data, position, parts)
                continue
            line_end = data.find(b"\r\n", position, position + _SIZE_LINE_LIMIT)
            if line_end < 0:
                if end - position >= _SIZE_LINE_LIMIT:
                    raise BadAnswer("a chunk's size is too long")
                self._rest = data[position:]
                break
            line, position = data[position:line_end], line_end + 2
            if self._in_trailer:
                self._take_trailer(len(line))
                continue
            size = sizes.get(line) or self._size(line)
            if size and data.startswith(b"\r\n", position + size):  # all of it is here
                parts.append(data[position : position + size])
                position += size + 2
            elif size:
                self._missing = size + 2
            else:
                self._in_trailer = True
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def end(self) -> None:
        """Refuse an end before the last chunk."""
        if not self.complete:
            raise BadAnswer("the connection ended in the middle of an answer")

    def _take_payload(self, data: bytes, start: int, parts: list[bytes]) -> int:
        if self._missing > 2:
            payload = data[start : start + self._missing - 2]
            parts.append(payload)
            self._missing -= len(payload)
            return len(payload)
        if data[start : start + 1] != (b"\r" if self._missing == 2 else b"\n"):
            raise BadAnswer("a chunk is longer than its size says")
        self._missing -= 1
        return 1

    def _size(self, line: bytes) -> int:
        size = _number(line.partition(b";")[0].strip(), base=16)
        if len(self._sizes) < _SIZES_KNOWN:
            self._sizes[line] = size
        return size

    def _take_trailer(self, length: int) -> None:
        self._trailer_size += length
        if self._trailer_size > _TRAILER_LIMIT:
            raise BadAnswer("too much after the last chunk")
        self.complete = length == 0


class Answer:
    """The answer to one request.

    Attributes:
        status: 101 when the connection now carries raw bytes both ways.
    """

    def __init__(self, connection: Connection, status: int, framing: Framing, first: bytes) -> None:
        self.status = status
        self._connection = connection
        self._framing = framing
        self._first = first

    @property
    def complete(self) -> bool:
        """Whether the body was seen to its end, by the engine's own word."""
        return self._framing.complete

    async def read(self) -> bytes:
        """Wait for more of the body; b"" at its end.

        Raises:
            OSError: The connection broke, or ended before the body did.
        """
        while not self._framing.complete:
            data, self._first = self._first, b""
            if not data:
                data = await self._connection.receive()
            if not data:
                self._framing.end()
                break
            if body := self._framing.feed(data):
                return body
        return b""

    async def gathered(self) -> None:
        """Wait until there is something to read, and a moment longer for more to come with it."""
        if not self._first:
            await self._connection.gathered()

    async def send(self, data: bytes) -> None:
        """Send raw bytes; for an answer with status 101."""
        await self._connection.send(data)

    def close(self) -> None:
        """Drop the connection; the engine ends what it does for it."""
        self._connection.close()


def request_head(
    method: str, target: str, host: str, headers: Mapping[str, str], *, version: str, length: int | None
) -> bytes:
    """Write a request's head.

    Args:
        method: GET or POST.
        target: Path and query, percent-encoded.
        host: For the Host header.
        headers: More headers; their values hold no line ends.
        version: "1.1", or "1.0" for an answer without chunks.
        length: Of the body in bytes; None when there is none.
    """
    lines = [f"{method} {target} HTTP/{version}", f"Host: {host}", "User-Agent: pinfold"]
    if "Upgrade" not in headers:
        lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def read_answer(connection: Connection) -> Answer:
    """Read an answer's head.

    Raises:
        OSError: The connection broke, or what came is no HTTP.
    """
    head = b""
    while (end := head.find(b"\r\n\r\n")) < 0:
        if len(head) > _HEAD_LIMIT:
            raise BadAnswer("the answer's head is too long")
        data = await connection.receive()
        if not data:
            raise BadAnswer("the connection was closed without an answer")
        head += data
    status_line, *lines = head[:end].split(b"\r\n")
    status = _status(status_line)
    return Answer(connection, status, _framing(status, _headers(lines)), head[end + 4 :])


def _status(line: bytes) -> int:
    parts = line.split(b" ", 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or len(parts[1]) != 3:
        raise BadAnswer(f"this is not HTTP: {line[:60]!r}")
    return _number(parts[1], base=10)


def _headers(lines: list[bytes]) -> dict[bytes, bytes]:
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, separator, value = line.partition(b":")
        if not separator:
            raise BadAnswer(f"this is no header: {line[:60]!r}")
        headers[name.strip().lower()] = value.strip()
    return headers


def _framing(status: int, headers: Mapping[bytes, bytes]) -> Framing:
    if status == 101:
        return UntilClosed()
    if status in (204, 304):
        return Counted(0)
    if b"chunked" in headers.get(b"transfer-encoding", b"").lower():
        return Chunked()
    if (length := headers.get(b"content-length")) is not None:
        return Counted(_number(length, base=10))
    return UntilClosed()


def _number(text: bytes, *, base: int) -> int:
    """Read a number that has digits only: int() would take signs, spaces and underscores."""
    digits = b"0123456789abcdefABCDEF" if base == 16 else b"0123456789"
    if not text or len(text) > _DIGITS_LIMIT or text.strip(digits):
        raise BadAnswer(f"this is no number: {text[:30]!r}")
    return int(text, base)
