from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import StartRequest
from tests.support.sessions import World, cleaned_up, started
from tests.support.terminal import ROOT

ABSENT = "unix:///nowhere/docker.sock"

PROGRAM = """
import asyncio, sys, time
from pathlib import Path
from services.home import Home
from services.pinfold import Pinfold

async def main():
    async with Pinfold.open(Home(Path(sys.argv[1]))) as pinfold:
        {inside}
        leaving = time.monotonic()
    return leaving

leaving = asyncio.run(main())
print("left within two seconds:", time.monotonic() - leaving < 2)
"""


def outcome(inside: str, home: Path, docker_host: str) -> list[str]:
    """Run a program that opens a Pinfold, does one thing and closes it; return the lines it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", PROGRAM.format(inside=inside), str(home)],
        cwd=ROOT,
        env={**os.environ, "DOCKER_HOST": docker_host},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture
def frozen_engine(tmp_path: Path) -> Iterator[str]:
    """The address of an engine that takes connections and never says a word."""
    path = tmp_path / "frozen.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(64)
        yield f"unix://{path}"


@pytest.mark.parametrize(
    "inside",
    [
        pytest.param("pass", id="at once"),
        pytest.param("await asyncio.sleep(0.5)", id="while it is being asked"),
        pytest.param(
            "asking = asyncio.ensure_future(pinfold.sandboxes.check_engines()); await asyncio.sleep(0.5)",
            id="while somebody waits for it",
        ),
    ],
)
def test_an_engine_that_is_frozen_keeps_nobody_from_leaving(home: Home, frozen_engine: str, inside: str):
    assert outcome(inside, home.root, frozen_engine) == ["left within two seconds: True"]


def test_opening_does_not_wait_for_the_docker_sdk(home: Home):
    (loaded, _) = outcome("print('docker' in sys.modules)", home.root, ABSENT)
    assert loaded == "False"


async def test_a_home_that_is_not_there_opens_empty_and_is_not_made_by_looking(home: Home):
    async with Pinfold.open(home, env={"DOCKER_HOST": ABSENT}) as pinfold:
        assert pinfold.agents.all() == ()
        assert await pinfold.sandboxes.sessions() == []
        assert [status.name for status in pinfold.sandboxes.engines()] == ["docker", "local"]
        assert not home.exists


async def test_a_damaged_database_is_set_aside_and_activity_says_where(home: Home):
    home.state_dir.mkdir(parents=True)
    home.database_file.write_bytes(b"this is no database, and long enough to be looked at" * 40)
    async with Pinfold.open(home, env={"DOCKER_HOST": ABSENT}) as pinfold:
        (entry,) = await pinfold.activity.recent()
        assert (entry.verb, entry.actor) == ("database.set_aside", "pinfold")
        assert pinfold.database.damage is not None
        assert entry.detail == pinfold.database.damage.why
    async with Pinfold.open(home, env={"DOCKER_HOST": ABSENT}) as pinfold:
        assert pinfold.database.damage is None


async def test_closing_leaves_no_task_behind(home: Home):
    before = asyncio.all_tasks()
    async with cleaned_up(World(home)) as world:
        world.agent(script="sleep 60")
        async with world.pinfold() as pinfold:
            async for _ in pinfold.sandboxes.start(StartRequest("worker")):
                pass
        assert asyncio.all_tasks() <= before


async def test_an_error_nobody_foresaw_in_the_background_ends_the_block_with_that_error(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A follower that dies in silence would leave a session that never moves again."""
    broken = RuntimeError("not foreseen")

    async def follow(*_: object) -> None:
        raise broken

    async with cleaned_up(World(home)) as world:
        world.agent(script="sleep 60")
        async with world.pinfold(supervise=False) as pinfold:
            await started(pinfold)
        monkeypatch.setattr("services.sandbox.following.Followers._see_to_its_end", follow)
        with pytest.raises(RuntimeError) as caught:
            async with asyncio.timeout(20), world.pinfold():
                await asyncio.Event().wait()
        monkeypatch.undo()
    assert caught.value is broken
