"""A move that is killed at any point loses nothing, and goes on with the same command."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import msgspec
import pytest

from services.memory import Draft, Listing
from tests.services.home.processes import ROOT
from tests.services.memory.agents.moving.conftest import House, everything, moved

ROWS = 450
POINTS = [("copy", 1), ("copy", 2), ("verify", 1), ("switch", 1), ("remove", 1)]


def kill_at(house: House, target: str, stage: str, times: int) -> None:
    """Move until a point, and kill the process there."""
    module = "tests.services.memory.agents.moving.until_killed"
    command = [sys.executable, "-m", module, str(house.home.root), target, stage, str(times)]
    environment = {"HOME": "/nowhere", **house.env}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        reached = process.stdout.readline()
        process.kill()
    assert reached == "here\n"


@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("markdown", "sqlite")], ids=lambda way: way)
@pytest.mark.parametrize(("stage", "times"), POINTS, ids=lambda point: str(point))
async def test_killed_anywhere_it_can_be_read_and_changed_and_then_goes_on(
    house: House, source: str, target: str, stage: str, times: int
) -> None:
    house.set_backend(source)
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        await asyncio.gather(*(memory.store(Draft(key=f"{number:03}", content="x")) for number in range(3)))
        first = (await everything(memory))[0]
        rows = [msgspec.structs.replace(first, key=f"{n:03}", id=f"{n:032x}") for n in range(3, ROWS)]
        await memory.take_in(rows)
    kill_at(house, target, stage, times)
    switched = stage in ("switch", "remove")
    async with house.opened() as pinfold:
        memory = pinfold.agent_memories.of("reviewer")
        assert memory.backend.name == (target if switched else source)
        assert await memory.count(Listing(superseded=True)) == ROWS
        await memory.store(Draft(key="since", content="x"))
        await memory.forget("000")
        await moved(pinfold, target)
        memory = pinfold.agent_memories.of("reviewer")
        assert memory.backend.name == target
        assert {row.key for row in await everything(memory)} == {f"{n:03}" for n in range(1, ROWS)} | {"since"}
        there = pinfold.agent_memories.backends[source]
        assert await there.count(memory.owner, Listing(superseded=True)) == 0
        assert pinfold.agents.get("reviewer").problems == ()
        assert f'backend = "{target}"' in house.file
        assert [entry.verb for entry in await pinfold.activity.recent()].count("memory.move") == 1
