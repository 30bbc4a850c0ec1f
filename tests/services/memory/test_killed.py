"""What was acknowledged stays and what was begun can be resumed, whenever the process is killed. Rows M44, R01-R11."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Any

from services.home import BlockingCalls, Database, Home
from services.memory import MISSING, Memory
from tests.services.home.processes import ROOT
from tests.services.memory.forking import COUNTS, SCOPE

KILLS = 50
PROCESSES = 8


def told(kind: str, times: int, home: Home) -> list[Any]:
    """Let processes work on a home, and return what they told."""
    home.state_dir.mkdir(parents=True)
    command = [sys.executable, "-W", "error", "-m", "tests.services.memory.forking", kind, str(times), str(home.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


async def test_m44_no_acknowledged_write_is_lost_in_fifty_kills(home: Home, calls: BlockingCalls) -> None:
    acknowledged: dict[tuple[str, str], int] = defaultdict(int)
    rounds = told("write", KILLS, home)
    for _, writes in rounds:
        for kind, name, done in writes:
            acknowledged[kind, name] = max(done, acknowledged[kind, name])
    assert len(rounds) == KILLS
    async with Database(home.database_file) as database:
        keys = Memory(home, database, calls).namespace(SCOPE)
        for (kind, name), done in acknowledged.items():
            value = await keys.get(name)
            assert value is not MISSING
            if kind == "counter":
                assert value >= done
            elif kind == "list":
                assert value == list(range(1, len(value) + 1))
                assert len(value) >= done
            else:
                assert value[0] >= done
        check = await database.read(lambda connection: connection.execute("PRAGMA integrity_check").fetchall())
        orphans = "SELECT count(*) FROM list_items WHERE list NOT IN (SELECT number FROM scoped_values)"
        assert check == [("ok",)]
        assert await database.read(lambda connection: connection.execute(orphans).fetchone()) == (0,)


async def test_every_step_that_was_begun_when_it_was_killed_is_resumed_with_what_the_context_held(
    home: Home, calls: BlockingCalls
) -> None:
    rounds = told("step", 20, home)
    async with Database(home.database_file) as database:
        memory = Memory(home, database, calls)
        for number, begun in rounds:
            steps = await memory.contexts.steps(chat=f"chat {number}")
            assert len(steps) >= len(begun)
            assert [step.number for step in steps] == list(range(1, len(steps) + 1))
            assert not [step for step in steps if step.state == "running"]
            unfinished = await memory.contexts.resumable(chat=f"chat {number}")
            for step in unfinished:
                assert step.state == "interrupted"
                assert (await memory.contexts.snapshot(step.id)).values() == {
                    "done": step.input,
                    "log": list(range(1, step.input + 1)),
                }
            if unfinished:
                resumed = memory.namespace((await memory.contexts.resume(unfinished[-1].id)).scope)
                assert await resumed.get("done") == unfinished[-1].input
                assert await resumed.push("log", "on") == unfinished[-1].input + 1
        assert await memory.contexts.resumable() == []
        await memory.close()


async def test_eight_processes_counting_at_once_lose_nothing(home: Home, calls: BlockingCalls) -> None:
    sums = told("count", PROCESSES, home)
    assert sorted(sums) == list(range(1, PROCESSES * COUNTS + 1))
    assert Counter(sums).most_common(1)[0][1] == 1
    async with Database(home.database_file) as database:
        assert await Memory(home, database, calls).namespace(SCOPE).get("shared") == PROCESSES * COUNTS
