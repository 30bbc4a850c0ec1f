"""An HTTP proxy that connects where a policy allows and nowhere else.

It takes `CONNECT host:port` and plain requests for whole `http://` URLs, one request a connection. Whatever it cannot
read with certainty it refuses; a client may be hostile, and so may a server.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass

from services.sandbox.egress.bodies import body_length, forward_body
from services.sandbox.egress.destinations import Connection, Destinations, Refused, Unreachable
from services.sandbox.egress.heads import (
    HEAD_LIMIT,
    BadRequest,
    Head,
    forwarded_head,
    parse_head,
    plain_target,
    tunnel_target,
)
from services.sandbox.egress.relay import PIECE, Idle, pump, while_moving
from services.sandbox.egress.tally import Tally
from services.sandbox.egress.tls import HANDSHAKE, HELLO_LIMIT, NoHello, client_hello, server_name

_REASONS = {400: "Bad Request", 403: "Forbidden", 408: "Request Timeout", 431: "Request Header Fields Too Large",
            502: "Bad Gateway", 503: "Service Unavailable"}  # fmt: skip
_LINGER_SECONDS, _LINGER_PIECES = 1.0, 64
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass(frozen=True)
class Bounds:
    """What one client may use.

    Attributes:
        connections: At once; one more is refused.
        head_seconds: Within which a request's head must be there, however slowly it comes.
        idle_seconds: After which a connection on which nothing moves is dropped; long, since a model may think long.
    """

    connections: int = 128
    head_seconds: float = 10.0
    idle_seconds: float = 900.0


class Proxy:
    """Serves the connections of one sandbox.

    Args:
        destinations: Connects, or refuses.
        tally: Told of every refusal.
        bounds: What the sandbox may use.
    """

    def __init__(self, destinations: Destinations, tally: Tally, bounds: Bounds = Bounds()) -> None:
        self._destinations = destinations
        self._tally = tally
        self._bounds = bounds
        self._connections = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end; for `asyncio.start_server` with a limit of `HEAD_LIMIT` bytes."""
        self._connections += 1
        try:
            if self._connections > self._bounds.connections:
                self._tally.add("", "more connections at once than a sandbox may have")
                await _answer(reader, writer, 503, "too many connections at once")
            else:
                await self._serve_request(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            return  # a side went away; the other one is told by the end of its connection
        finally:
            self._connections -= 1
            await _close(writer)

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = ""
        try:
            head = parse_head(await self._read_head(reader))
            target = head.target
            if head.method == "CONNECT":
                await self._tunnel(tunnel_target(head), reader, writer)
            else:
                await self._forward(head, reader, writer)
        except BadRequest as bad:
            self._tally.add(_shown(target), bad.reason)
            await _answer(reader, writer, bad.status, bad.reason)
        except Refused as refused:
            self._tally.add(_shown(target), refused.reason)
            await _answer(reader, writer, 403, f"Pinfold does not let this through: {refused.reason}")
        except Unreachable as problem:
            await _answer(reader, writer, 502, str(problem))

    async def _read_head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            async with asyncio.timeout(self._bounds.head_seconds):
                return await reader.readuntil(b"\r\n\r\n")
        except TimeoutError as error:
            raise BadRequest("the request did not come in time", 408) from error
        except asyncio.LimitOverrunError as error:
            raise BadRequest(f"the request's head is longer than {HEAD_LIMIT} bytes", 431) from error

    async def _tunnel(self, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await self._destinations.connect(target)
        idle = Idle(self._bounds.idle_seconds)
        try:
            writer.write(_ESTABLISHED)
            await writer.drain()
            await while_moving(idle, self._send_checked(reader, there, idle), pump(there.reader, writer, idle))
        except (NoHello, Refused) as refused:  # too late for an answer: the client believes to speak to the server
            self._tally.add(target, str(refused))
        finally:
            await _close(there.writer)

    async def _send_checked(self, reader: asyncio.StreamReader, there: Connection, idle: Idle) -> None:
        """Send what a client says to a server, unless it greets another one over TLS than it asked for."""
        first = await reader.read(PIECE)
        if first[:1] == bytes([HANDSHAKE]):
            while (hello := client_hello(first)) is None and len(first) <= HELLO_LIMIT:
                more = await reader.read(PIECE)
                if not more:
                    break
                first += more
            name = None if hello is None else server_name(hello)
            if there.named and name is not None and name.lower().rstrip(".") != there.host:
                raise Refused(f"it asks {there.host} for {name} over TLS")
            if hello is None:
                raise NoHello("its ClientHello has no end")
        idle.moved()
        there.writer.write(first)
        await there.writer.drain()
        await pump(reader, there.writer, idle)

    async def _forward(self, head: Head, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        authority, path = plain_target(head)
        length = body_length(head)
        there = await self._destinations.connect(f"http://{authority}/")
        idle = Idle(self._bounds.idle_seconds)

        async def send(data: bytes) -> None:
            idle.moved()
            there.writer.write(data)
            await there.writer.drain()

        try:
            await send(forwarded_head(head, _authority(there), path))
            await while_moving(idle, forward_body(reader, send, length), pump(there.reader, writer, idle), last=2)
        finally:
            await _close(there.writer)


def _authority(there: Connection) -> str:
    host = f"[{there.host}]" if ":" in there.host else there.host
    return host if there.port == 80 else f"{host}:{there.port}"


def _shown(target: str) -> str:
    """A target without what may be private or endless in it: a URL's path and question."""
    scheme, found, rest = target.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}" if found else target


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int, words: str) -> None:
    """Answer instead of a server, and read a little on: a connection closed before would take the answer along."""
    body = f"{words}\n".encode("ascii", "replace")
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=us-ascii\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode("ascii") + body)
    await writer.drain()
    writer.write_eof()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            for _ in range(_LINGER_PIECES):
                if not await reader.read(PIECE):
                    return


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close a connection; one that takes nothing any more is dropped."""
    writer.close()
    with contextlib.suppress(OSError):
        async with asyncio.timeout(5.0):
            await writer.wait_closed()
            return
    writer.transport.abort()
