"""A proxy on a real socket, and an internet of its own that lies on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from services.policy.domains import AllowedDomain, DomainPolicy
from services.sandbox.egress.destinations import Destinations
from services.sandbox.egress.heads import HEAD_LIMIT
from services.sandbox.egress.proxy import Bounds, Proxy
from services.sandbox.egress.refusal import Refusal
from services.sandbox.egress.tally import Tally

PUBLIC = "93.184.216.34"
WAIT = 10.0

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


class Internet:
    """Names, their addresses, and one server that answers at every address.

    Attributes:
        names: The addresses of each name; a name asked for again gets the next list, the last one for ever.
        asked: Names that were looked up.
        dialled: Addresses and ports that were connected to.
        received: All bytes the server got, by connection.
        answer: What the server says once it has read `until`.
    """

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []
        self.dialled: list[tuple[str, int]] = []
        self.received: list[bytearray] = []
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
        self.until = b"\r\n\r\n"
        self.port = 0

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host.replace(".", "").isdigit() or ":" in host:
            return [host]
        lists = self.names.get(host, [[PUBLIC]])
        return lists.pop(0) if len(lists) > 1 else lists[0]

    async def dial(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.dialled.append((address, port))
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = bytearray()
        self.received.append(received)
        answered = False
        try:
            while data := await reader.read(65536):
                received += data
                if not answered and self.until in received:
                    answered = True
                    writer.write(self.answer)
                    await writer.drain()
                    if b"Connection: close" in received:
                        writer.write_eof()
        except ConnectionError:
            return
        finally:
            writer.close()


class Asked:
    """A proxy for one policy, and a client of it.

    Attributes:
        told: Refusals it told of.
    """

    def __init__(self, internet: Internet, *allowed: str, bounds: Bounds | None = None) -> None:
        self.internet = internet
        self.told: list[Refusal] = []
        self._bounds = bounds or Bounds()
        self._allowed = allowed
        self._servers: list[asyncio.Server] = []
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Asked:
        policy = DomainPolicy("allowlist", tuple(AllowedDomain(entry) for entry in self._allowed))
        self.tally = Tally(self.told.append, asyncio.get_running_loop().time)
        proxy = Proxy(Destinations(policy, self.internet.resolve, self.internet.dial), self.tally, self._bounds)
        self._servers.append(await asyncio.start_server(self._noted(self.internet.serve), "127.0.0.1", 0))
        self._servers.append(await asyncio.start_server(self._noted(proxy.serve), "127.0.0.1", 0, limit=HEAD_LIMIT))
        self.internet.port, self._port = (server.sockets[0].getsockname()[1] for server in self._servers)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()
        async with asyncio.timeout(WAIT):
            await asyncio.gather(*self._serving)

    def _noted(self, serve: Serve) -> Serve:
        """Note the tasks that serve connections, to wait for them at the end."""

        async def noting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._serving.add(task)
            await serve(reader, writer)

        return noting

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port)

    async def say(self, *pieces: bytes, finish: bool = True) -> bytes:
        """Send pieces, end, and return all that came back."""
        reader, writer = await self.open()
        try:
            async with asyncio.timeout(WAIT):
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                if finish:
                    writer.write_eof()
                return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def status(self, *pieces: bytes) -> int:
        """Send pieces and return the status of the answer, 0 when there was none."""
        answer = await self.say(*pieces)
        return int(answer.split(b" ", 2)[1]) if answer else 0

    @property
    def reasons(self) -> list[str]:
        return [refusal.reason for refusal in self.told]
