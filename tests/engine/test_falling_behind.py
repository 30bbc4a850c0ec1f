"""Output that comes faster than it is read, and a follower that cannot tell how far behind it is."""

from __future__ import annotations

import asyncio
import time

import pytest
from docker import APIClient

from services.sandbox.engines.docker import DockerEngine
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.container import Container
from services.sandbox.engines.docker.follow import Follower
from tests.engine.conditions import eventually
from tests.engine.followed import following, made_outside, started, until_ended
from tests.engine.sandboxes import Sandboxes
from tests.engine.spools import Spool

MIB = 1024 * 1024
HOUR = 3_600_000_000_000
COUNTER = "awk 'BEGIN { for (i = 0; i < %d; i++) print i }'"


class CountingReader:
    """Looks a sandbox up as the engine does for its follower, and counts how often."""

    def __init__(self, engine: DockerEngine, sandbox: str) -> None:
        self.looks = 0
        self._engine = engine
        self._sandbox = sandbox

    async def look(self) -> tuple[Api, Container]:
        self.looks += 1
        link = await self._engine._linker.link()
        return link.api, await self._engine._own(link, self._sandbox)


async def test_rotation_of_the_engines_log_repeats_and_loses_nothing(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    """80 MB, which is more than one file."""
    script = "awk 'BEGIN { for (i = 0; i < 40000; i++) printf \"%08d %01990d\\n\", i, 7 }'"
    sandbox = await engine.create(sandboxes.script(script, output_limit=MIB), {})
    async with following(engine, sandbox, spool):
        await engine.start(sandbox)
    assert [int(line[:8]) for line in spool.stdout] == list(range(40_000))


async def test_a_log_that_rotates_faster_than_it_is_read_loses_nothing_while_the_engine_keeps_it(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, spool: Spool
) -> None:
    script = "awk 'BEGIN { for (i = 0; i < 30000; i++) printf \"%08d %0100d\\n\", i, 7 }'"
    sandbox = made_outside(api, sandboxes, script, {"max-size": str(MIB), "max-file": "5", "compress": "false"})
    async with following(engine, sandbox, spool):
        await engine.start(sandbox)
    assert [int(line[:8]) for line in spool.stdout] == list(range(30_000))


async def test_what_the_engine_no_longer_has_is_said_to_be_missing(
    engine: DockerEngine, sandboxes: Sandboxes, api: APIClient, spool: Spool
) -> None:
    lines = "awk 'BEGIN { for (i = 0; i < 100000; i++) printf \"%08d %0100d\\n\", i, 7 }'"
    sandbox = made_outside(api, sandboxes, f"echo first; sleep 1; {lines}", {"max-size": str(MIB), "max-file": "2"})
    await engine.start(sandbox)
    async with following(engine, sandbox, spool) as task:
        await eventually(lambda: spool.stdout == [b"first"])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await until_ended(engine, sandbox)
    spool.reopen()
    await engine.follow(sandbox, spool.writer)
    first, *kept = spool.stdout
    numbers = [int(line[:8]) for line in kept]
    assert first == b"first"
    assert numbers == list(range(100_000 - len(numbers), 100_000))
    assert 0 < len(numbers) < 100_000
    (note,) = spool.notes
    assert b"is missing: the engine did not keep it" in note
    assert spool.lines()[1] == note


async def test_a_reader_that_cannot_keep_up_never_blocks_the_sandbox(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follower reads nothing while it is held up; the sandbox ends all the same, and nothing is lost."""
    monkeypatch.setattr("services.sandbox.engines.docker.pace.Pace.pause_after", lambda *_: 1.5)
    sandbox = await started(engine, sandboxes.script("echo begin; sleep 0.3; " + COUNTER % 100_000))
    async with following(engine, sandbox, spool) as task:
        await eventually(lambda: spool.lines() == [b"begin"])
        await until_ended(engine, sandbox)
        assert not task.done()
        monkeypatch.undo()
    assert len(spool.stdout) == 100_001


@pytest.mark.parametrize("ahead", [HOUR, -HOUR], ids=["our clock is ahead", "our clock is behind"])
async def test_an_engine_with_another_clock_is_followed_and_not_read_again_and_again(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool, ahead: int
) -> None:
    sandbox = await started(engine, sandboxes.script("for i in $(seq 40); do echo $i; sleep 0.05; done"))
    reader = CountingReader(engine, sandbox)
    await Follower(reader.look, spool.writer, now=lambda: time.time_ns() + ahead).run()
    assert spool.stdout == [str(number).encode() for number in range(1, 41)]
    assert reader.looks <= 5


async def test_a_silence_in_what_was_missed_is_looked_into_once_and_then_followed(
    engine: DockerEngine, sandboxes: Sandboxes, spool: Spool
) -> None:
    """What a follower finds when it comes back may have gaps that look like a skipped file."""
    sandbox = await started(engine, sandboxes.script("echo 1; sleep 2; echo 2; sleep 2; echo 3; touch done; sleep 1"))
    await eventually((sandboxes.workspace / "done").exists)
    reader = CountingReader(engine, sandbox)
    await Follower(reader.look, spool.writer).run()
    assert spool.stdout == [b"1", b"2", b"3"]
    assert reader.looks <= 5
