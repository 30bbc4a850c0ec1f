"""Bytes to the sockets of a tool server, and whatever comes back."""

from __future__ import annotations

import asyncio
import json
import os
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from services.pinfold import Pinfold
from services.sandbox.egress import HTTP_SOCKET
from services.sandbox.tools import Token, tools_dir
from services.sandbox.tools.sockets import LINES_SOCKET

BOUND = 30.0


@dataclass(frozen=True)
class Raw:
    """An open connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, data: bytes) -> None:
        """Send what the other side takes; it may end the connection meanwhile."""
        with suppress(OSError):
            self.writer.write(data)
            await self.writer.drain()

    async def is_cut(self) -> bool:
        """Whether the other side has ended the connection, told without reading from it."""
        poll = select.poll()
        poll.register(self.writer.get_extra_info("socket"), 0)
        return bool(poll.poll(0))

    async def rest(self) -> bytes:
        """All that comes until the other side ends the connection, which it must."""
        heard = bytearray()
        async with asyncio.timeout(BOUND):
            with suppress(OSError):
                while data := await self.reader.read(65536):
                    heard += data
        return bytes(heard)


@asynccontextmanager
async def raw(pinfold: Pinfold, socket: str = HTTP_SOCKET) -> AsyncIterator[Raw]:
    """A connection to a socket."""
    directory = os.open(tools_dir(pinfold.home), os.O_RDONLY)
    try:
        reader, writer = await asyncio.open_unix_connection(f"/proc/self/fd/{directory}/{socket}", limit=2**23)
    finally:
        os.close(directory)
    try:
        yield Raw(reader, writer)
    finally:
        writer.transport.abort()


def by_lines(pinfold: Pinfold) -> Any:
    """A connection to the socket that speaks lines."""
    return raw(pinfold, LINES_SOCKET)


def head(token: Token | str = "", *more: str, method: str = "POST", host: str = "127.0.0.1:3129") -> bytes:
    """The line and headers of a request, without what ends them."""
    text = token if isinstance(token, str) else token.reveal()
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {text}"]
    lines += ["Content-Type: application/json", "Accept: application/json, text/event-stream", *more]
    return "\r\n".join(lines).encode()


def request(token: Token | str, tool: str = "memory_count", *more: str, **arguments: Any) -> bytes:
    """A whole call of a tool."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    body = json.dumps(call).encode()
    return head(token, *more, f"Content-Length: {len(body)}") + b"\r\n\r\n" + body


def status_of(answer: bytes) -> int:
    """The status of the first answer; 0 where there is none."""
    line = answer.partition(b"\r\n")[0].split(b" ")
    return int(line[1]) if line[0] == b"HTTP/1.1" else 0
