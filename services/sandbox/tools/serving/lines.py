"""MCP as a stdio server speaks it, a message a line: over a unix socket after a line with the token, or over stdio."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mcp.server.stdio import stdio_server

from services.errors import PinfoldError
from services.sandbox.tools.grants import Grant, Token
from services.sandbox.tools.serving.answers import CROWDED, REFUSED, VOID, WRONG, rpc_error
from services.sandbox.tools.serving.calls import Calls
from services.sandbox.tools.serving.conversation import LINE_LIMIT, Conversation
from services.sandbox.tools.serving.protocol import Context, GrantOf, mcp_server
from services.sandbox.tools.serving.seats import Limits
from services.sandbox.tools.tokens import Tokens

STRANGERS = 64
"""The most connections whose token is not known yet."""

TOKEN_SECONDS = 10.0
_TOKEN_LIMIT = 512
_CLOSING_SECONDS = 2.0
_LAST_WORDS_SECONDS = 2.0
_PAUSE = 0.2
_PIECE = 65536


class LineServer:
    """Answers connections of the unix socket.

    Args:
        calls: Answers calls.
        tokens: Says what a token allows.
        limits: How much there may be at once.
    """

    def __init__(self, calls: Calls, tokens: Tokens, limits: Limits) -> None:
        self._calls = calls
        self._tokens = tokens
        self._limits = limits
        self._serving: set[asyncio.Task[None]] = set()
        self._strangers: dict[asyncio.Task[None], None] = {}

    async def accept(self, listening: socket.socket) -> None:
        """Take connections until cancelled; where too many have given no token, the oldest of these ends."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError:  # no descriptor is free
                await asyncio.sleep(_PAUSE)
                continue
            if len(self._strangers) >= STRANGERS:
                oldest = next(iter(self._strangers))
                del self._strangers[oldest]
                oldest.cancel()
            task = asyncio.create_task(self._serve(connection))
            self._serving.add(task)
            self._strangers[task] = None
            task.add_done_callback(self._forget)

    async def close(self) -> None:
        """End every connection."""
        for task in self._serving:
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving, timeout=_CLOSING_SECONDS)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        self._strangers.pop(task, None)

    async def _serve(self, connection: socket.socket) -> None:
        """Answer one connection until either side ends it."""
        try:
            async with asyncio.timeout(TOKEN_SECONDS):
                token = await _token_of(connection)
            if await self._tokens.check(token) is None:
                in_turn = await self._limits.wrong.wait()
                await _dismiss(connection, rpc_error(REFUSED, VOID if in_turn else WRONG))
                return
            with self._limits.connections.taken(token.session) as full:
                if full is not None:
                    await _dismiss(connection, rpc_error(CROWDED, f"the connection is refused: {full}"))
                    return
                self._know()
                await self._converse(token, connection)
        except OSError:  # nobody is there any more, or has not said who it is in time
            return
        finally:
            connection.close()

    def _know(self) -> None:
        """Count this task's connection no longer among those that may have to make room."""
        task = asyncio.current_task()
        if task is not None:
            self._strangers.pop(task, None)

    async def _converse(self, token: Token, connection: socket.socket) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=connection.dup(), limit=LINE_LIMIT)
        try:
            server = mcp_server(self._calls, granting(self._tokens, token))
            await Conversation(token.session, self._limits.calls, reader, writer).hold(server)
        finally:
            writer.close()


def granting(tokens: Tokens, token: Token) -> GrantOf:
    """Find what one connection's token allows, anew for each request: it may have become void meanwhile."""

    async def grant_of(_: Context) -> Grant | None:
        return await tokens.check(token)

    return grant_of


@asynccontextmanager
async def serve_lines(calls: Calls, tokens: Tokens, limits: Limits, listening: socket.socket) -> AsyncIterator[None]:
    """Serve the unix socket for the length of a block; it is closed at the end."""
    lines = LineServer(calls, tokens, limits)
    accepting = asyncio.create_task(lines.accept(listening), name="serve tools by lines")
    try:
        yield
    finally:
        accepting.cancel()
        with suppress(asyncio.CancelledError):
            await accepting
        listening.close()
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


async def _token_of(connection: socket.socket) -> Token:
    """Read the first line, byte by byte: what follows is not ours yet, and a stranger fills no memory."""
    loop = asyncio.get_running_loop()
    line = bytearray()
    while len(line) < _TOKEN_LIMIT:
        byte = await loop.sock_recv(connection, 1)
        if byte in (b"", b"\n"):
            break
        line += byte
    return Token(line.strip().decode("latin-1"))


async def _dismiss(connection: socket.socket, words: bytes) -> None:
    """Say something and end the connection, so that it is heard before the end is."""
    with suppress(OSError):
        async with asyncio.timeout(_LAST_WORDS_SECONDS):
            await asyncio.get_running_loop().sock_sendall(connection, words)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(_PIECE)  # what is unread at the close resets the connection
