"""A delete beside other Pinfolds, on disks that are full, read-only or others, and how it tells of its progress."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.archives import result_of
from services.errors import ArchiveError, OperationRefused, PinfoldError
from services.operations import OperationState
from services.operations.running import Run
from services.pinfold import Pinfold
from tests.services.home.small_disk import make_read_only, mount, needs_small_disk, unmount
from tests.services.operations.conftest import done, refusal, retried, visible
from tests.support.estates import AGENT, estate
from tests.support.sessions import World, cleaned_up, started


class TestOtherPinfolds:
    async def test_a_session_that_is_running_is_in_the_way(self, world: World):
        async with cleaned_up(world):
            world.agent("worker", "sleep 60")
            async with world.pinfold() as pinfold:
                session = await started(pinfold)
                told = await refusal(pinfold, "worker")
                assert f"session {session.id} is running" in told
                assert f"pinfold sessions stop {session.id}" in told

    async def test_whoever_starts_a_session_is_named_to_whoever_deletes(self, world, pinfold, monkeypatch):
        """Upstream, a session could start between the check and the removal."""
        monkeypatch.setattr("services.operations.running._LOCK_SECONDS", 0.1)
        lock = world.home.agent_lock(AGENT)
        lock.acquire(0)
        try:
            with pytest.raises(PinfoldError, match="starts a session of it or writes its file"):
                await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        finally:
            lock.release()
        assert await pinfold.operations.all() == []

    @pytest.mark.parametrize(
        ("step", "told"),
        [
            pytest.param("remove", f"a delete of {AGENT}", id="while the agent is there"),
            pytest.param("seal", "there is no agent", id="once it is gone"),
        ],
    )
    async def test_whoever_deletes_is_named_to_whoever_starts_or_deletes(
        self, world: World, pinfold: Pinfold, monkeypatch, step: str, told: str
    ):
        from services.operations.purging import COURSE
        from services.sandbox import StartRequest

        going_on, carry_on = asyncio.Event(), COURSE.steps[step]

        async def held(run: Run) -> str:
            await going_on.wait()
            return await carry_on(run)

        monkeypatch.setitem(COURSE.steps, step, held)
        running = pinfold.operations.carry_out(await pinfold.operations.plan_delete(AGENT))
        first = await anext(running)
        async for progress in running:
            if progress.step == step:
                break
        async with world.pinfold(supervise=False) as other:
            with pytest.raises(PinfoldError, match=told):
                async for _ in other.sandboxes.start(StartRequest(AGENT)):
                    pass
            with pytest.raises(OperationRefused, match=first.operation.id):
                await done(other, await other.operations.plan_delete(AGENT))
        going_on.set()
        async for _ in running:
            pass

    async def test_a_database_that_is_locked_for_long_stops_it_and_a_retry_goes_on(self, world, pinfold, monkeypatch):
        monkeypatch.setattr("services.home.sqlite._PATIENCE", 0.2)
        async with world.pinfold(supervise=False) as impatient:
            plan = await impatient.operations.plan_delete(AGENT)
            running = impatient.operations.carry_out(plan)
            await anext(running)
            holder = sqlite3.connect(world.home.database_file, isolation_level=None)
            try:
                holder.execute("BEGIN IMMEDIATE")
                with pytest.raises(PinfoldError, match="another program holds it"):
                    async for _ in running:
                        pass
            finally:
                holder.close()
        assert AGENT in visible(estate(world.home)) or await pinfold.operations.unfinished()
        (operation,) = await pinfold.operations.unfinished()
        assert operation.state is OperationState.INTERRUPTED
        assert (await retried(pinfold, operation.id)).state is OperationState.DONE


@needs_small_disk
class TestRealDisks:
    @pytest.fixture
    def disk(self, world: World) -> Iterator[Path]:
        place = world.home.archives_dir
        place.mkdir(exist_ok=True)
        mount(str(place))
        yield place
        unmount(str(place))

    async def test_a_read_only_folder_of_archives_changes_nothing(self, pinfold, world, disk):
        before = estate(world.home)
        make_read_only(str(disk))
        with pytest.raises(ArchiveError, match=r"read-only|Read-only"):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert estate(world.home) == before

    async def test_a_disk_that_is_too_small_changes_nothing(self, pinfold, world, disk):
        (world.home.default_workspace(AGENT) / "large").write_bytes(os.urandom(4 * 1024 * 1024))
        before = estate(world.home)
        with pytest.raises(ArchiveError, match=r"full|No space"):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert estate(world.home) == before
        assert [path.name for path in disk.iterdir()] == []

    async def test_another_disk_for_archives_is_no_obstacle(self, pinfold, world, disk):
        """Upstream, a workspace on another file system could not be moved."""
        operation = await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert operation.state is OperationState.DONE
        assert (await result_of(pinfold.archives.verify(operation.archive))).intact


async def test_progress_is_told_at_least_every_tenth_of_a_second(pinfold: Pinfold, monkeypatch: pytest.MonkeyPatch):
    import asyncio

    from services.operations import purging

    real = purging.COURSE.steps["purge"]

    async def slow(run: Any) -> str:
        if run.step.subject == "sessions":
            await asyncio.sleep(0.6)
        return await real(run)

    monkeypatch.setitem(purging.COURSE.steps, "purge", slow)
    loop = asyncio.get_running_loop()
    longest, last = 0.0, loop.time()
    slow_steps = 0
    async for progress in pinfold.operations.carry_out(await pinfold.operations.plan_delete(AGENT)):
        longest, last = max(longest, loop.time() - last), loop.time()
        slow_steps += progress.note == "remove its sessions and sandboxes"
    assert slow_steps >= 4
