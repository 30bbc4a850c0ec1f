"""What fails on the way of a delete, before and behind its point of no return, and how it goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.archives import result_of
from services.errors import OperationError, PinfoldError
from services.memory import Draft
from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, retried, visible
from tests.support.estates import AGENT, estate
from tests.support.sessions import World


class Obstacle:
    """Fails a step of an operation, as often as wanted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception) -> None:
        self._monkeypatch = monkeypatch

        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(place, fail)

    def go(self) -> None:
        self._monkeypatch.undo()


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestBeforeThePointOfNoReturn:
    @pytest.mark.parametrize(
        "place",
        [
            pytest.param("services.archives.writing.writer.write_rows", id="exporting rows"),
            pytest.param("services.archives.writing.writer.pack", id="packing the workspace"),
            pytest.param("services.archives.writing.writer.keep_session", id="keeping a session"),
        ],
    )
    async def test_a_full_disk_leaves_all_as_it_was(self, pinfold, world, monkeypatch, place):
        """Upstream, rows were purged although their export had failed, with an empty file or none."""
        before = estate(world.home)
        obstacle = Obstacle(monkeypatch, place, FULL)
        with pytest.raises(PinfoldError, match=r"the disk is full|No space left"):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        obstacle.go()
        assert estate(world.home) == before
        assert list(world.home.archives_dir.iterdir()) == []
        (operation,) = await pinfold.operations.all()
        assert (operation.state, operation.committed) == (OperationState.FAILED, False)
        assert (await retried(pinfold, operation.id)).state is OperationState.DONE

    async def test_a_file_that_cannot_be_read_is_a_reason_to_stop(self, pinfold, world, monkeypatch):
        file = world.home.default_workspace(AGENT) / "src" / "1.txt"
        real = os.open

        def opened(path: Any, *args: Any, **kwargs: Any) -> int:
            if os.fsencode(path).endswith(b"1.txt"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
            return real(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", opened)
        before = world.home.default_workspace(AGENT).stat()
        with pytest.raises(OperationError, match=r"src/1.txt \(unreadable\)"):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        monkeypatch.undo()
        assert file.read_text() == "line 1\n" * 50
        assert world.home.default_workspace(AGENT).stat().st_ino == before.st_ino

    async def test_a_workspace_that_changes_all_the_time_is_a_reason_to_stop(self, pinfold, world, monkeypatch):
        before = estate(world.home)
        changing(monkeypatch, world.home.default_workspace(AGENT), lambda _: True)
        with pytest.raises(OperationError, match=r"changes all the time|changed while it was packed"):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        monkeypatch.undo()
        assert estate(world.home)["memories"] == before["memories"]
        assert AGENT in visible(estate(world.home))

    async def test_a_workspace_that_changes_once_is_packed_again(self, pinfold, world, monkeypatch):
        changing(monkeypatch, world.home.default_workspace(AGENT), lambda number: number == 1)
        operation = await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        opened = await pinfold.archives.open(operation.archive)
        assert (await result_of(opened.preview("workspace/growing"))).data == b"1"

    async def test_cancelling_takes_all_of_it_back(self, pinfold: Pinfold, world: World):
        before = estate(world.home)
        running = pinfold.operations.carry_out(await pinfold.operations.plan_delete(AGENT))
        async for progress in running:
            if progress.step == "export" and "memories" in progress.note:
                break
        await running.aclose()
        assert estate(world.home) == before
        (operation,) = await pinfold.operations.all()
        assert (operation.state, operation.archive) == (OperationState.CANCELLED, "")
        assert await pinfold.archives.list() == []
        assert await pinfold.operations.unfinished() == []


def changing(monkeypatch: pytest.MonkeyPatch, workspace: Path, when: Callable[[int], bool]) -> None:
    """Let a file grow each time the workspace has been packed."""
    from services.archives.writing import workspace as packing
    from services.archives.writing import writer

    pack, times = packing.pack, [0]

    def packed(*args: Any) -> Any:
        result = pack(*args)
        times[0] += 1
        if when(times[0]):
            (workspace / "growing").write_text(str(times[0]))
        return result

    monkeypatch.setattr(writer, "pack", packed)


class TestBehindThePointOfNoReturn:
    async def test_what_fails_can_be_retried(self, pinfold, world, monkeypatch):
        """Upstream, a delete that was done by half found no agent any more and could not go on."""
        obstacle = Obstacle(monkeypatch, "services.operations.purging.remove_known", FULL)
        with pytest.raises(OperationError):
            await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        obstacle.go()
        (operation,) = await pinfold.operations.unfinished()
        assert operation.committed
        assert operation.step is not None
        assert (operation.step.subject, operation.step.state) == ("files", "failed")
        plan = await pinfold.operations.plan_delete(AGENT)
        assert plan.resumes == operation.id
        assert (await done(pinfold, plan)).state is OperationState.DONE
        assert (await result_of(pinfold.archives.verify(operation.archive))).intact

    async def test_a_file_that_appears_late_is_packed_too(self, pinfold, world, monkeypatch):
        stopped = await left_behind(pinfold, "remove")
        (hidden,) = (path for path in world.home.agents_dir.iterdir() if path.name.startswith("."))
        (hidden / "workspace" / "late.txt").write_text("late")
        await retried(pinfold, stopped)
        opened = await pinfold.archives.open((await pinfold.operations.get(stopped)).archive)
        assert (await result_of(opened.preview("workspace/late.txt"))).data == b"late"

    async def test_a_file_beside_the_workspace_that_appears_late_stays(self, pinfold, world):
        stopped = await left_behind(pinfold, "remove")
        (hidden,) = (path for path in world.home.agents_dir.iterdir() if path.name.startswith("."))
        (hidden / "late.txt").write_text("late")
        with pytest.raises(OperationError, match=r"late.txt is not in the archive and stays"):
            await retried(pinfold, stopped)
        (hidden / "late.txt").unlink()
        assert (await retried(pinfold, stopped)).state is OperationState.DONE

    async def test_rows_that_appear_late_are_exported_before_they_go(self, pinfold: Pinfold, world: World):
        memory = pinfold.agent_memories.of(AGENT)
        stopped = await left_behind(pinfold, "remove")
        await memory.store(Draft(key="late", content="stored by a Pinfold that had not seen it yet"))
        operation = await retried(pinfold, stopped)
        opened = await pinfold.archives.open(operation.archive)
        assert "late" in [row.key async for page in opened.memory() for row in page]
        assert [row[0] for row in estate(world.home)["memories"]] == ["writer"]


async def left_behind(pinfold: Pinfold, name: str) -> str:
    """Carry out a delete to the end of a step, and let nobody run it any more; return its id."""
    running = pinfold.operations.carry_out(await pinfold.operations.plan_delete(AGENT))
    async for progress in running:
        steps = {step.name: step.state for step in progress.operation.steps}
        if steps[name] == "done":
            break
    await running.aclose()
    (operation,) = await pinfold.operations.unfinished()
    return operation.id
