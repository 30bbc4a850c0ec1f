"""Embedding goes on where it was killed, and asks nothing twice that was kept."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.services.home.processes import ROOT
from tests.services.memory.agents.vectors.conftest import House, count, recalled
from tests.services.memory.agents.vectors.test_embed_run import filled
from tests.support.embedder import EmbedderServer

ROWS, BATCH = 200, 32


def killed_after(house: House, batches: int) -> int:
    """Embed until some batches are kept, kill the process, and return how many memories it said were done."""
    command = [sys.executable, "-m", "tests.services.memory.agents.vectors.until_killed", str(house.home.root)]
    environment = {**os.environ, **house.env}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(batches + 1)]
        process.kill()
        told += process.stdout.readlines()
    return int([line for line in told if line.endswith("\n")][-1])


@pytest.mark.parametrize("batches", [1, 3])
async def test_killed_on_the_way_it_goes_on_with_what_is_left(
    house: House, server: EmbedderServer, batches: int
) -> None:
    await filled(house, ROWS)
    done = killed_after(house, batches)
    assert done >= batches * BATCH
    async with house.opened() as pinfold:
        kept = await count(pinfold, "memory_vectors")
        assert done <= kept <= ROWS
        asked = len(server.texts)
        told = [progress async for progress in pinfold.agent_memories.embed_run("reviewer").run()]
        assert told[-1].done == told[-1].total == ROWS - kept
        assert len(server.texts) - asked == 1 + ROWS - kept
        assert await count(pinfold, "memory_vectors") == ROWS
        assert await recalled(pinfold, "ship") == ["000"]
