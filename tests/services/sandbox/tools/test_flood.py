"""A tool server in a process of its own, flooded over both sockets: its memory is bounded, and it goes on serving."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from services.pinfold import Pinfold
from services.sandbox.tools import Token
from services.sandbox.tools.process import ServerProcess
from tests.services.sandbox.tools.desk import Desk, DeskWorld
from tests.services.sandbox.tools.raw import by_lines, head, raw, request, status_of
from tests.services.sandbox.tools.serving import call, greet, server_of

MIB = 2**20


@asynccontextmanager
async def served_elsewhere(pinfold: Pinfold, env: dict[str, str]) -> AsyncIterator[int]:
    """The process that serves, as a session's start makes one."""
    await ServerProcess(pinfold.home, pinfold.calls, env).ensure()
    server = server_of(pinfold.home)
    assert server is not None
    try:
        yield server
    finally:
        os.kill(server, signal.SIGTERM)


def most_memory(process: int) -> int:
    """The most bytes a process had in memory so far."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


async def at_once(pinfold: Pinfold, count: int, attack: Callable[[AsyncExitStack], Awaitable[None]]) -> None:
    async with AsyncExitStack() as stack, asyncio.timeout(60):
        await asyncio.gather(*(attack(stack) for _ in range(count)), return_exceptions=True)


async def serves(pinfold: Pinfold, token: Token) -> None:
    async with raw(pinfold) as good:
        await good.say(request(token, "memory_count", "Connection: close"))
        assert status_of(await good.rest()) == 200


async def test_no_flood_takes_the_memory_or_keeps_others_out(desk_world: DeskWorld) -> None:
    async with desk_world.pinfold(supervise=False) as pinfold:
        desk = Desk(pinfold)
        token, other = await desk.token(), await desk.token()

        async def headers_without_end(stack: AsyncExitStack) -> None:
            connection = await stack.enter_async_context(raw(pinfold))
            await connection.say(head("x", "X: " + "x" * 30_000))

        async def tokens_without_end(stack: AsyncExitStack) -> None:
            connection = await stack.enter_async_context(by_lines(pinfold))
            await asyncio.wait_for(connection.say(b"x" * 4 * MIB), 1)

        async def bodies(stack: AsyncExitStack) -> None:
            connection = await stack.enter_async_context(raw(pinfold))
            long = "x" * (MIB + MIB // 2)
            await connection.say(request(token, "namespace_get", "Connection: close", scope="chat", key=long))
            await connection.rest()

        async def calls_unread(stack: AsyncExitStack) -> None:
            connection = await stack.enter_async_context(by_lines(pinfold))
            await greet(connection.reader, connection.writer, token)
            connection.reader._transport.pause_reading()
            line = str(call(1, "memory_list")).replace("'", '"').encode() + b"\n"
            for number in range(2000):
                await asyncio.wait_for(connection.say(line.replace(b'"id": 1', b'"id": %d' % number)), 2)

        async with served_elsewhere(pinfold, desk_world.env) as server:
            await serves(pinfold, other)
            before = most_memory(server)
            attacks = ((540, headers_without_end), (80, tokens_without_end), (40, bodies), (2, calls_unread))
            for count, attack in attacks:
                await at_once(pinfold, count, attack)
                await serves(pinfold, other)
            assert most_memory(server) - before < 256 * MIB
