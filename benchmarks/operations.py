"""Renames and deletes an agent with 10,000 files and 100,000 memories, beside tar and a plain export in the same run.

`python -m benchmarks operations 1000` takes the number of megabytes as an argument; without one it takes 200.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NamedTuple

from benchmarks.archives import FILES, ROWS, Peak, make_workspace
from benchmarks.result import Result
from services.home import Home
from services.memory import Draft
from services.operations import Progress
from services.pinfold import Pinfold
from tests.support.sessions import World

MEGABYTES = 200
AGENT = "worker"
MOST_RATIO = 1.3
MOST_MEMORY = 200e6
MOST_SILENCE = 100.0
_TICK = 0.005


async def fill(world: World, megabytes: int) -> None:
    """Give an agent its files and memories."""
    world.agent(AGENT)
    make_workspace(world.home.default_workspace(AGENT), megabytes)
    async with world.pinfold(supervise=False) as pinfold:
        memory = pinfold.agent_memories.of(AGENT)
        first = await memory.store(Draft(key="first", content="agent fetch commit sandbox memory scope session " * 4))

        def more(connection: sqlite3.Connection) -> None:
            connection.execute(
                "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO memories"
                " (id, agent, key, content, category, importance, created_at, updated_at)"
                " SELECT printf('%032x', i), agent, 'key ' || i, content || i, category, importance, created_at,"
                " updated_at FROM n, memories WHERE key = 'first' AND agent = ?",
                (ROWS - 1, first.agent_id),
            )

        await pinfold.database.write(more)


class Plain(NamedTuple):
    """Seconds of the same by hand.

    Attributes:
        kept: Of `tar` and a plain export of the rows, synced to the disk.
        removed: Of `rm` and a plain DELETE of the rows.
    """

    kept: float
    removed: float


def plainly(home: Home, place: Path) -> Plain:
    """Do it by hand; what is removed is a copy, and all there was before is on the disk."""
    workspace, copy, rows = home.default_workspace(AGENT), place / "copy", place / "rows.db"
    shutil.copytree(workspace, copy)
    with contextlib.closing(sqlite3.connect(home.database_file)) as connection:
        connection.execute("VACUUM INTO ?", (str(rows),))
    os.sync()
    started = time.perf_counter()
    subprocess.run(["tar", "--zstd", "-cf", place / "plain.tar.zst", "-C", workspace, "."], check=True)
    with contextlib.closing(sqlite3.connect(home.database_file)) as connection:
        connection.row_factory = sqlite3.Row
        with (place / "plain.jsonl").open("w") as file:
            for row in connection.execute("SELECT * FROM memories"):
                file.write(json.dumps(dict(row)) + "\n")
    os.sync()
    kept = time.perf_counter() - started
    with contextlib.closing(sqlite3.connect(rows)) as connection:
        connection.execute("DELETE FROM memories")
        connection.commit()
    subprocess.run(["rm", "-r", copy], check=True)
    return Plain(kept, time.perf_counter() - started - kept)


class Watched(NamedTuple):
    """Seconds of an operation.

    Attributes:
        kept: Until all of it was in the archive, verified.
        ended: Until it was done.
        silence: The longest it said nothing.
        lag: The longest it kept the event loop.
    """

    kept: float
    ended: float
    silence: float
    lag: float


async def watched(told: AsyncGenerator[Progress, None]) -> Watched:
    """Time an operation."""
    lag = [0.0]

    async def beat() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_TICK)
            lag[0] = max(lag[0], time.perf_counter() - before - _TICK)

    beating = asyncio.create_task(beat())
    started = last = time.perf_counter()
    silence = kept = 0.0
    async with contextlib.aclosing(told) as progress:
        async for one in progress:
            now = time.perf_counter()
            silence, last = max(silence, now - last), now
            if one.step == "export":
                kept = now - started
    beating.cancel()
    return Watched(kept, time.perf_counter() - started, silence, lag[0])


async def measure(pinfold: Pinfold, plain: Plain) -> list[Result]:
    """Rename the agent, then delete it."""
    found: list[Result] = []
    renaming = pinfold.operations.carry_out(await pinfold.operations.plan_rename(AGENT, "digger"))
    found += _rows("rename", await watched(renaming), 0.0)
    peak = Peak()
    with peak.watching():
        deleting = pinfold.operations.carry_out(await pinfold.operations.plan_delete("digger"))
        times = await watched(deleting)
    found.append(_beside("delete-until-kept", times.kept, plain.kept))
    found += _rows("delete", times, plain.kept)
    found.append(_beside("delete-beside-removal-too", times.ended, plain.kept + plain.removed))
    memory = peak.grown / 1e6
    found.append(Result("delete-memory", memory, "MB", 0, "<200MB", peak.grown < MOST_MEMORY))
    return found


def _beside(what: str, seconds: float, plain: float) -> Result:
    return Result(what, seconds, "s", plain, f"<={MOST_RATIO}x", seconds <= MOST_RATIO * plain)


def _rows(what: str, times: Watched, plain: float) -> list[Result]:
    ended = _beside(what, times.ended, plain) if plain else Result(what, times.ended, "s", plain)
    return [
        ended,
        Result(f"{what}-silence", times.silence * 1e3, "ms", 0, "<100ms", times.silence * 1e3 < MOST_SILENCE),
        Result(f"{what}-loop-held", times.lag * 1e3, "ms", 0, "<100ms", times.lag * 1e3 < MOST_SILENCE),
    ]


async def run(place: Path, megabytes: int) -> list[Result]:
    """Make the agent, and time all of it."""
    world = World(Home(place / "home"))
    await fill(world, megabytes)
    print(f"{FILES:,} files of {megabytes} MB, {ROWS:,} memories", flush=True)
    plain = await asyncio.to_thread(plainly, world.home, place)
    async with world.pinfold(supervise=False) as pinfold:
        return await measure(pinfold, plain)


def main() -> int:
    """Print one row a figure."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES
    with tempfile.TemporaryDirectory(prefix="pinfold-operations-") as place:
        for result in asyncio.run(run(Path(place), megabytes)):
            print(result.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
