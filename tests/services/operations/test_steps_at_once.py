"""Steps that depend on nothing of one another run at once; each ends, fails and is done again by itself."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from services.archives.working import Gauge
from services.archives.writing import workspace, writer
from services.errors import PinfoldError
from services.memory import Listing
from services.operations import Operation, OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, retried
from tests.support.estates import AGENT, estate
from tests.support.sessions import World

WAITING = 60
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def states(operation: Operation) -> dict[str, str]:
    return {f"{step.name} {step.subject}".strip(): step.state for step in operation.steps}


async def memories(pinfold: Pinfold) -> int:
    (count,) = await pinfold.database.read(lambda c: c.execute("SELECT count(*) FROM memories").fetchone())
    return int(count)


async def test_rows_are_exported_while_the_workspace_is_packed(pinfold: Pinfold, monkeypatch: pytest.MonkeyPatch):
    pack, exported = workspace.pack, threading.Event()

    def patient(*args: Any) -> Any:
        assert exported.wait(WAITING)
        return pack(*args)

    monkeypatch.setattr(writer, "pack", patient)
    seen: list[dict[str, str]] = []
    plan = await pinfold.operations.plan_delete(AGENT)
    async for progress in pinfold.operations.carry_out(plan):
        seen.append(states(progress.operation))
        if seen[-1].get("export memory") == "done":
            exported.set()
    assert any(now["export workspace"] == "running" and now["export memory"] == "done" for now in seen)
    assert set(seen[-1].values()) == {"done"}


async def test_what_is_told_first_is_of_the_first_step_that_runs(pinfold: Pinfold):
    plan = await pinfold.operations.plan_delete(AGENT)
    told = [progress async for progress in pinfold.operations.carry_out(plan)]
    assert any(not progress.leading for progress in told)
    for progress in told:
        if progress.leading and progress.number:
            running = [step.number for step in progress.operation.steps if step.state == "running"]
            assert progress.number == min(running)


async def test_one_that_fails_stops_those_beside_it(pinfold: Pinfold, world: World, monkeypatch: pytest.MonkeyPatch):
    rows = threading.Event()

    def fails(*_: object) -> None:
        assert rows.wait(WAITING)
        raise FULL

    async def endless(calls: object, directory: Path, name: str, pages: object, gauge: Gauge) -> Any:
        while True:
            rows.set()
            gauge.advance(items=1)
            await asyncio.sleep(0.01)

    before = estate(world.home)
    monkeypatch.setattr(writer, "pack", fails)
    monkeypatch.setattr(writer, "write_rows", endless)
    with pytest.raises(PinfoldError, match="No space left"):
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
    monkeypatch.undo()
    (operation,) = await pinfold.operations.all()
    assert operation.state is OperationState.FAILED
    assert operation.detail.startswith("pack its workspace: ")
    assert (states(operation)["export workspace"], states(operation)["export memory"]) == ("failed", "cancelled")
    assert estate(world.home) == before
    assert list(world.home.archives_dir.iterdir()) == []


async def test_a_retry_does_those_again_that_did_not_end(
    pinfold: Pinfold, world: World, monkeypatch: pytest.MonkeyPatch
):
    def fails(*_: object) -> None:
        raise FULL

    own = await pinfold.agent_memories.of(AGENT).count(Listing(superseded=True))
    before = await memories(pinfold)
    monkeypatch.setattr("services.operations.emptying.purge_some", fails)
    with pytest.raises(PinfoldError, match="No space left"):
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
    monkeypatch.undo()
    (operation,) = await pinfold.operations.all()
    assert states(operation)["purge memory"] == "failed"
    assert states(operation)["purge files"] in ("done", "cancelled")
    ended = await retried(pinfold, operation.id)
    assert set(states(ended).values()) == {"done"}
    assert not world.home.default_workspace(AGENT).exists()
    assert await memories(pinfold) == before - own
