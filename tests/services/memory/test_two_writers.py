"""Two processes that store over what they saw never lose one another's change, whatever they write."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from services.home import Home
from services.memory import Block, Scope
from services.pinfold import Pinfold
from tests.services.home.processes import ROOT
from tests.support.sessions import World

TIMES = 40


@pytest.fixture
def world(home: Home) -> World:
    world = World(home)
    world.agent("sqlite")
    world.agent("markdown", rest='[memory]\nbackend = "markdown"')
    return world


async def counted(kind: str, home: Home) -> int:
    """The number that the writers left."""
    async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
        if kind == "key":
            value = await pinfold.memory.namespace(Scope.parse("user:42")).get("n")
            assert isinstance(value, int)
            return value
        if kind == "block":
            tenant = await pinfold.core_memory.tenants.of_agent("sqlite")
            return int((await pinfold.core_memory.blocks(tenant).read(Block.HUMAN)).content)
        row = await pinfold.agent_memories.of(kind).get("n")
        assert row is not None
        return int(row.content)


def count_up_twice(kind: str, home: Home) -> None:
    """Let two processes count up at the same time."""
    command = [sys.executable, "-W", "error", "-m", "tests.services.memory.counting_up", kind, str(TIMES)]
    writers = [
        subprocess.Popen([*command, str(home.root)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0


@pytest.mark.parametrize("kind", ["key", "block", "sqlite", "markdown"])
async def test_two_processes_that_store_over_what_they_saw_lose_nothing(kind: str, world: World) -> None:
    await asyncio.to_thread(count_up_twice, kind, world.home)
    assert await counted(kind, world.home) == 2 * TIMES
