"""One client that speaks MCP as a stdio server does, a message a line, over a stream."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, suppress

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from services.sandbox.tools.serving.answers import CROWDED, INVALID_REQUEST, rpc_error
from services.sandbox.tools.serving.seats import Seats

LINE_LIMIT = 2 * 1024 * 1024
"""The most bytes of a message."""

_ANSWER_SECONDS = 20.0
_TOO_LONG = "the message has over 2 MiB"
_CANCELLED = "notifications/cancelled"


class Conversation:
    """Carries messages between a stream and a server, and never more requests at once than there are seats.

    Args:
        session: Whose seats are taken.
        seats: For requests that are being answered.
        reader, writer: The stream, which holds at most `LINE_LIMIT` unread.
    """

    def __init__(self, session: str, seats: Seats, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._session = session
        self._seats = seats
        self._reader = reader
        self._writer = writer
        self._answering: dict[int | str, ExitStack] = {}

    async def hold(self, server: Server[object]) -> None:
        """Go on until either side ends it."""
        to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def receive() -> None:
            async with to_server:
                with suppress(OSError):
                    while line := await self._next_line():
                        if message := await self._admitted(line):
                            await to_server.send(message)

        async def send() -> None:
            async with from_server:
                async for message in from_server:
                    self._answered(message.message)
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    if not await self._say(text.encode() + b"\n"):
                        group.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(receive)
                group.start_soon(send)
                await server.run(read, write, server.create_initialization_options())
                group.cancel_scope.cancel()
        finally:
            for seat in self._answering.values():
                seat.close()

    async def _admitted(self, line: bytes) -> SessionMessage | Exception | None:
        """What a line says, for the server; None where a request was refused here."""
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            return error
        if isinstance(message, JSONRPCRequest):
            if refusal := self._seat(message.id):
                await self._say(refusal)
                return None
        elif getattr(message, "method", "") == _CANCELLED:
            self._free((getattr(message, "params", None) or {}).get("requestId"))
        return SessionMessage(message)

    def _seat(self, request: int | str) -> bytes:
        """Take a seat for a request; gives what to answer where there is none."""
        if request in self._answering:
            return rpc_error(INVALID_REQUEST, "a request with this id is being answered", request)
        seat = ExitStack()
        full = seat.enter_context(self._seats.taken(self._session))
        if full is not None:
            seat.close()
            return rpc_error(CROWDED, f"the call is refused: {full}", request)
        self._answering[request] = seat
        return b""

    def _answered(self, message: JSONRPCMessage) -> None:
        if not hasattr(message, "method"):
            self._free(getattr(message, "id", None))

    def _free(self, request: object) -> None:
        if isinstance(request, int | str) and request in self._answering:
            self._answering.pop(request).close()

    async def _say(self, line: bytes) -> bool:
        """Write a line; False where nobody reads any more, and then the connection is gone."""
        self._writer.write(line)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._writer.drain()
        except OSError:  # a TimeoutError among them
            self._writer.transport.abort()
            return False
        return True

    async def _next_line(self) -> bytes:
        """Read a message; b"" at the end, or where one is too long to go on after it."""
        try:
            while line := await self._reader.readline():
                if line.strip():
                    return line
        except ValueError:
            await self._say(rpc_error(INVALID_REQUEST, _TOO_LONG))
        return b""
