"""From a target an agent asks for to a connection, or the reason against it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from services.policy.decision import Verdict
from services.policy.domains import DomainPolicy, host_of, port_of

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""Gives the addresses of a name, the preferred first."""

Dial = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Connects to an address, never to a name."""

_ADDRESSES = 4
_RESOLVE_SECONDS = 10.0
_DIAL_SECONDS = 10.0


class Refused(Exception):
    """The policy does not allow it.

    Attributes:
        reason: The policy's, one clause.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unreachable(Exception):
    """It is allowed, and there is no way to it."""


@dataclass(frozen=True)
class Connection:
    """A connection to an allowed host.

    Attributes:
        host: In the form the policy gives it.
        named: Whether the host is a name, else it is an address.
    """

    host: str
    port: int
    named: bool
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


async def resolve_by_system(host: str, port: int) -> list[str]:
    """Ask the system for a name's addresses.

    Raises:
        OSError: It knows none.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


async def dial_address(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address.

    Raises:
        OSError: Nobody answers there.
    """
    return await asyncio.open_connection(address, port, flags=socket.AI_NUMERICHOST)


class Destinations:
    """Asks the policy about a target and about every address it leads to, and connects to what was judged.

    Args:
        policy: Decides.
        resolve: Asked once for each connection, so that a name cannot change its address in between.
        dial: Gets an address that was judged.
    """

    def __init__(self, policy: DomainPolicy, resolve: Resolve = resolve_by_system, dial: Dial = dial_address) -> None:
        self._policy = policy
        self._resolve = resolve
        self._dial = dial

    async def connect(self, target: str) -> Connection:
        """Connect to `host:port` or to the host of a URL.

        Raises:
            Refused: The policy does not allow it.
            Unreachable: Its name has no address, or nobody answers.
        """
        decision = self._policy.decide(target)
        port = port_of(target)
        if decision.verdict is not Verdict.ALLOW or port is None:
            raise Refused(decision.reason)
        host = host_of(target)[0]
        for address in await self._allowed_addresses(target, host, port):
            try:
                async with asyncio.timeout(_DIAL_SECONDS):
                    reader, writer = await self._dial(address, port)
            except OSError:  # TimeoutError is one
                continue
            return Connection(host, port, host != address, reader, writer)
        raise Unreachable(f"nobody answers at {host}:{port}")

    async def _allowed_addresses(self, target: str, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(_RESOLVE_SECONDS):
                found = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise Unreachable(f"{host} has no address") from error
        judged = [(address, self._policy.decide_address(target, address)) for address in found[:_ADDRESSES]]
        allowed = [address for address, decision in judged if decision.verdict is Verdict.ALLOW]
        if judged and not allowed:
            raise Refused(judged[0][1].reason)
        return allowed
