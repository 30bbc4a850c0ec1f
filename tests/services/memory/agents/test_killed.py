"""What was acknowledged is there, whenever the process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from services.home import BlockingCalls, Database, Home
from services.memory.agents import AgentMemory, Listing, Owner, Query
from services.memory.screening import Screening
from tests.services.home.processes import ROOT
from tests.services.memory.agents.backends import make_backend


def killed(kind: str, number: int, home: Home, env: dict[str, str]) -> list[str]:
    """Kill an agent that stores once it has stored some, and return what was acknowledged."""
    command = [sys.executable, "-m", "tests.services.memory.agents.writing", kind, str(number), str(home.root)]
    environment = {**os.environ, **env}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(3 + 4 * number)]
        process.kill()
        told += process.stdout.readlines()
    return [line.strip() for line in told if line.endswith("\n")]


@pytest.mark.parametrize(("kind", "kills"), [("sqlite", 6), ("markdown", 5), ("postgres", 3), ("lucid", 2)])
async def test_no_acknowledged_row_is_lost_by_kills_and_the_search_still_fits(
    request: pytest.FixtureRequest, kind: str, kills: int, home: Home, calls: BlockingCalls
) -> None:
    env = {"MEMORY_URL": request.getfixturevalue("postgres").url} if kind == "postgres" else {}
    (home.root / "workspace").mkdir(parents=True)
    acknowledged = [key for number in range(kills) for key in killed(kind, number, home, env)]
    assert len(acknowledged) >= 3 * kills
    async with Database(home.database_file) as database:
        backend = make_backend(kind, home, database, calls, time.time_ns, env)
        me = AgentMemory(Owner("reviewer", home.root / "workspace"), (), backend, Screening(), calls)
        rows = {row.key: row.content for row in await me.listed(Listing(limit=100_000))}
        assert set(acknowledged) <= set(rows)
        assert all(content == f"fact {key}\n\nof many" for key, content in rows.items())
        assert await me.count() == len(rows)
        assert len(await me.recall(Query("fact", limit=1000))) == min(len(rows), 1000)
        await backend.close()
