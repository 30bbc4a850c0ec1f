"""An engine that is stopped, killed and started again, with and without live-restore, while a sandbox is followed."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from services.errors import EngineUnavailable
from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.conditions import eventually
from tests.engine.private_engine import PrivateEngine
from tests.engine.sandboxes import Sandboxes
from tests.engine.spools import Spool

LINES = 3000
"""So many that the sandbox still prints after the last of four restarts."""

NUMBERED = """
i=0; trap "" HUP
while [ $i -lt %d ]; do
  echo "out $i"; echo "err $i" >&2; i=$((i + 1))
  [ $((i %% 10)) = 0 ] && sleep 0.02
  if [ -e pause ]; then echo $i >next; mv next printed; while [ -e pause ]; do sleep 0.02; done; fi
done
"""


@pytest.fixture
async def private(private_engine: PrivateEngine, home_id: str, calls: BlockingCalls) -> AsyncIterator[DockerEngine]:
    engine = DockerEngine(home_id, calls, {"DOCKER_HOST": private_engine.host})
    yield engine
    await engine.close()


async def in_thread(calls: BlockingCalls, *acts) -> None:
    for act in acts:
        await calls.run(act)


async def test_with_live_restore_nothing_is_lost_or_repeated_over_restarts_and_kills(
    private: DockerEngine, private_engine: PrivateEngine, sandboxes: Sandboxes, spool: Spool, calls: BlockingCalls
) -> None:
    def start() -> None:
        private_engine.start("--live-restore")

    async def came(lines: int) -> bool:
        return min(len(spool.stdout), len(spool.stderr)) > lines

    await in_thread(calls, private_engine.terminate, start)
    sandbox = await private.create(sandboxes.script(NUMBERED % LINES), {})
    await private.start(sandbox)
    following = asyncio.create_task(private.follow(sandbox, spool.writer))
    pause, printed = sandboxes.workspace / "pause", sandboxes.workspace / "printed"
    for stop in (private_engine.terminate, private_engine.kill, private_engine.terminate, private_engine.kill):
        await eventually(functools.partial(came, len(spool.stdout) + 100))
        assert (await private.inspect(sandbox)).status == "running"
        pause.touch()  # what an engine has read and not yet logged when it is killed is nowhere
        await eventually(printed.exists)
        await eventually(functools.partial(came, int(printed.read_text()) - 1))
        await in_thread(calls, stop)
        printed.unlink()
        pause.unlink()
        await in_thread(calls, start)
    await asyncio.wait_for(following, 120)
    assert spool.stdout == [b"out %d" % number for number in range(LINES)]
    assert spool.stderr == [b"err %d" % number for number in range(LINES)]
    assert spool.notes == []


async def test_without_live_restore_a_restart_ends_the_sandbox_and_its_output_is_whole(
    private: DockerEngine, private_engine: PrivateEngine, sandboxes: Sandboxes, spool: Spool, calls: BlockingCalls
) -> None:
    script = "trap 'echo asked to end; exit 5' TERM; echo begun; while true; do sleep 0.05; done"
    sandbox = await private.create(sandboxes.script(script), {})
    await private.start(sandbox)
    following = asyncio.create_task(private.follow(sandbox, spool.writer))
    await eventually(lambda: spool.stdout == [b"begun"])
    await in_thread(calls, private_engine.restart)
    await asyncio.wait_for(following, 60)
    assert spool.stdout == [b"begun", b"asked to end"]
    assert (await private.inspect(sandbox)).exit_code == 5


async def test_an_engine_that_is_killed_is_told_lost_and_found_again(
    private: DockerEngine, private_engine: PrivateEngine, sandboxes: Sandboxes, calls: BlockingCalls
) -> None:
    sandbox = await private.create(sandboxes.spec("sleep", "60"), {})
    identity = (await private.status()).identity
    async with aclosing(private.changes()) as changes:
        await anext(changes)
        await in_thread(calls, private_engine.kill)
        with pytest.raises(EngineUnavailable):
            await asyncio.wait_for(anext(changes), 30)
    assert not (await private.status()).usable
    with pytest.raises(EngineUnavailable):
        await private.inspect(sandbox)
    await in_thread(calls, private_engine.start)
    status = await private.status()
    assert status.usable
    assert status.identity == identity
    assert (await private.inspect(sandbox)).status == "created"


async def test_live_restore_is_recommended_only_where_it_is_missing(
    private: DockerEngine, private_engine: PrivateEngine, calls: BlockingCalls
) -> None:
    assert any("live-restore" in note for note in (await private.status()).notes)
    await in_thread(calls, lambda: private_engine.restart("--live-restore"))
    assert not any("live-restore" in note for note in (await private.status()).notes)
