"""A byte connection to the engine, over a unix socket, tcp or TLS, that reads only when asked to."""

from __future__ import annotations

import asyncio
import ssl
from typing import cast

from services.sandbox.engines.docker.endpoint import Endpoint
from services.sandbox.engines.docker.rounds import Rounds

_READ_SIZE = 256 * 1024


class Dialer:
    """Opens connections to one endpoint; they share one buffer, which is copied out of at once.

    Args:
        endpoint: Where to connect.
        tls: For a tcp endpoint with certificates.
    """

    def __init__(self, endpoint: Endpoint, tls: ssl.SSLContext | None) -> None:
        self._endpoint = endpoint
        self._tls = tls
        self._buffer = memoryview(bytearray(_READ_SIZE))
        self._rounds = Rounds()

    async def connect(self) -> Connection:
        """Open a connection.

        Raises:
            OSError: Nobody answers, or the certificates do not fit.
        """
        loop = asyncio.get_running_loop()
        endpoint = self._endpoint
        if endpoint.socket is not None:
            _, made = await loop.create_unix_connection(
                lambda: Connection(self._buffer, self._rounds), str(endpoint.socket)
            )
        else:
            _, made = await loop.create_connection(
                lambda: Connection(self._buffer, self._rounds), endpoint.host, endpoint.port, ssl=self._tls
            )
        return made

    def close(self) -> None:
        """Free what connections share."""
        self._rounds.close()


class Connection(asyncio.BufferedProtocol):
    """Pulls: nothing is read from the engine while nobody waits in `receive`, so a slow reader holds no memory.

    Args:
        buffer: Scratch space, used only within one callback.
        rounds: Where quiet connections wait together.
    """

    def __init__(self, buffer: memoryview, rounds: Rounds) -> None:
        self._buffer = buffer
        self._rounds = rounds
        self._arrived: list[bytes] = []
        self._ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None
        self._transport: asyncio.Transport | None = None

    async def receive(self) -> bytes:
        """Wait for bytes and return all that arrived; b"" once the engine has closed its side.

        Raises:
            OSError: The connection broke.
        """
        while not self._arrived:
            if self._error is not None:
                raise self._error
            if self._ended or self._transport is None:
                return b""
            self._reader = asyncio.get_running_loop().create_future()
            self._transport.resume_reading()
            try:
                await self._reader
            finally:
                self._reader = None
        arrived, self._arrived = self._arrived, []
        return arrived[0] if len(arrived) == 1 else b"".join(arrived)

    async def gathered(self) -> None:
        """Wait until there is something to `receive`, or the end, and a moment longer for more to come with it.

        Returns at once over TLS, whose layer may hold what the socket does not show.
        """
        if self._arrived or self._ended or self._transport is None or self._transport.get_extra_info("sslcontext"):
            return
        descriptor = self._transport.get_extra_info("socket").fileno()
        self._reader = self._rounds.wait(descriptor)
        try:
            await self._reader
        finally:
            self._reader = None
            self._rounds.leave(descriptor)

    async def send(self, data: bytes) -> None:
        """Send bytes; waits while the engine does not take them.

        Raises:
            OSError: The connection broke or was closed.
        """
        if self._transport is None or self._transport.is_closing():
            raise self._error or ConnectionResetError("the connection is closed")
        self._transport.write(data)
        if self._writer is not None:
            await asyncio.shield(self._writer)

    def close(self) -> None:
        """Drop the connection at once; does nothing when it is closed."""
        self._ended = True
        self._arrived.clear()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin without reading."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.pause_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Lend the shared buffer for one read."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read, and stop reading until someone asks again."""
        self._arrived.append(bytes(self._buffer[:nbytes]))
        if self._transport is not None:
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> None:
        """Note that the engine sends nothing more; asyncio then closes the transport."""
        self._ended = True
        _wake(self._reader)

    def pause_writing(self) -> None:
        """Make `send` wait."""
        self._writer = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        """Let `send` go on."""
        _wake(self._writer)
        self._writer = None

    def connection_lost(self, error: Exception | None) -> None:
        """Wake whoever waits; a time-out of the network must not look like one of the caller's."""
        self._ended = True
        if isinstance(error, TimeoutError):
            error = ConnectionAbortedError("the network gave the connection up")
        self._error = error
        _wake(self._reader)
        self.resume_writing()


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
