"""A door in front of the engine's socket: for the faults of a connection, or on a port, with TLS or without."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from pathlib import Path

PIECE = 64 * 1024


class SocketProxy:
    """Passes bytes both ways until told otherwise.

    Args:
        path: Where it listens.
        engine: The engine's socket.
    """

    def __init__(self, path: Path, engine: Path) -> None:
        self.path = path
        self.connections = 0
        self._engine = engine
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()

    @property
    def host(self) -> str:
        return f"unix://{self.path}"

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._serve, self.path)

    def freeze(self) -> None:
        """Take connections and bytes and pass nothing on, as an engine that hangs."""
        self._flowing.clear()

    def thaw(self) -> None:
        """Go on, with what was held back."""
        self._flowing.set()

    def is_called_again(self) -> Callable[[], bool]:
        """Return what tells whether one more connection came since now."""
        before = self.connections
        return lambda: self.connections > before

    async def cut(self) -> None:
        """Drop every connection and take no more."""
        if self._server is not None:
            self._server.close()
            self.path.unlink(missing_ok=True)
            self._server = None
        await self._drop_all()

    async def drop(self) -> None:
        """Drop every connection, and go on listening."""
        await self.cut()
        await self.start()

    async def _drop_all(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what was aborted is closed in the next turn of the loop

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:  # it had knocked before the cut
            _abort(writer)
            return
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self._relay(reader, writer)
        finally:
            _abort(writer)
            self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        engine_reader, engine_writer = await asyncio.open_unix_connection(self._engine)
        there = asyncio.create_task(self._pass(reader, engine_writer))
        try:
            await self._pass(engine_reader, writer)
            writer.close()
            await writer.wait_closed()
        finally:
            _abort(engine_writer)
            there.cancel()
            await asyncio.gather(there, return_exceptions=True)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(PIECE):
            await self._flowing.wait()
            sink.write(data)
            await sink.drain()
        await self._flowing.wait()
        if sink.can_write_eof():
            sink.write_eof()


def _abort(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(AttributeError):  # asyncio's own, of a transport that wrote its rest after it was closed
        writer.transport.abort()


class TcpDoor(SocketProxy):
    """Listens on a port of this machine.

    Args:
        engine: The engine's socket.
        tls: The server's side of TLS; None is plain.
    """

    def __init__(self, engine: Path, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(Path(), engine)
        self._tls = tls

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)

    async def cut(self) -> None:
        """Drop every connection and take no more."""
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._drop_all()
