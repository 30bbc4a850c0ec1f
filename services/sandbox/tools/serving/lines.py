"""MCP as a stdio server speaks it, a message a line: over a unix socket after a line with the token, or over stdio."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from services.errors import PinfoldError
from services.sandbox.tools.grants import Grant, Token
from services.sandbox.tools.serving.calls import Calls
from services.sandbox.tools.serving.protocol import Context, GrantOf, mcp_server
from services.sandbox.tools.tokens import Tokens

LINE_LIMIT = 2 * 1024 * 1024
"""The most bytes of a message."""

_CONNECTIONS = 256
_TOKEN_SECONDS = 10.0
_CLOSING_SECONDS = 2.0
_VOID = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"the token is void: its session has ended"}}\n'
_TOO_LONG = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message has over 2 MiB"}}\n'


class LineServer:
    """Answers connections of the unix socket.

    Args:
        calls: Answers calls.
        tokens: Says what a token allows.
    """

    def __init__(self, calls: Calls, tokens: Tokens) -> None:
        self._calls = calls
        self._tokens = tokens
        self._serving: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until either side ends it."""
        task = asyncio.current_task()
        if task is None or len(self._serving) >= _CONNECTIONS:
            writer.close()
            return
        self._serving.add(task)
        try:
            async with asyncio.timeout(_TOKEN_SECONDS):
                line = await reader.readline()
            token = Token(line.strip().decode("latin-1"))
            if await self._tokens.check(token) is None:
                writer.write(_VOID)
                await writer.drain()
                return
            await self._converse(token, reader, writer)
        except (OSError, ValueError):  # nobody there any more, no token in time, or an endless line in its place
            return
        finally:
            self._serving.discard(task)
            writer.close()

    async def close(self) -> None:
        """End every connection."""
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving, timeout=_CLOSING_SECONDS)

    async def _converse(self, token: Token, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = mcp_server(self._calls, granting(self._tokens, token))
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def receive() -> None:
            async with incoming:
                with suppress(OSError):
                    while line := await _next_line(reader, writer):
                        try:
                            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                        except ValidationError as error:
                            await incoming.send(error)
                            continue
                        await incoming.send(SessionMessage(message))

        async def send() -> None:
            async with outgoing:
                async for message in outgoing:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    writer.write(text.encode() + b"\n")
                    await writer.drain()

        async with anyio.create_task_group() as group:
            group.start_soon(receive)
            group.start_soon(send)
            await server.run(read, write, server.create_initialization_options())
            group.cancel_scope.cancel()


def granting(tokens: Tokens, token: Token) -> GrantOf:
    """Find what one connection's token allows, anew for each request: it may have become void meanwhile."""

    async def grant_of(_: Context) -> Grant | None:
        return await tokens.check(token)

    return grant_of


@asynccontextmanager
async def serve_lines(calls: Calls, tokens: Tokens, listening: socket.socket) -> AsyncIterator[None]:
    """Serve the unix socket for the length of a block; it is closed at the end."""
    lines = LineServer(calls, tokens)
    server = await asyncio.start_unix_server(lines.serve, sock=listening, limit=LINE_LIMIT)
    try:
        yield
    finally:
        server.close()
        await lines.close()


async def serve_stdio(calls: Calls, tokens: Tokens, token: Token) -> None:
    """Serve this process's standard input and output until the input ends.

    Raises:
        PinfoldError: The token is void.
    """
    if await tokens.check(token) is None:
        raise PinfoldError("the tools cannot be served", why="the token is void: its session has ended")
    server = mcp_server(calls, granting(tokens, token))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def _next_line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Read a message; b"" at the end, or where one is too long to go on after it."""
    try:
        while line := await reader.readline():
            if line.strip():
                return line
    except ValueError:
        writer.write(_TOO_LONG)
        await writer.drain()
    return b""
