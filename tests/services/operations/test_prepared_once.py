"""Prepare steps that run once in a workspace do not run again because its agent was renamed, deleted or restored."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from services.pinfold import Pinfold
from services.sandbox import OnceMarkers
from tests.services.operations.conftest import done
from tests.support.sessions import World, cleaned_up, lines_of, ran

ONCE = """prepare = [{ cmd = ["sh", "-c", "echo prepared >> log"], once = true }]"""


@pytest.fixture
async def prepared(world: World) -> AsyncIterator[Pinfold]:
    """A Pinfold with an agent whose step was done."""
    async with cleaned_up(world):
        world.agent("worker", "cat log", sandbox=ONCE)
        async with world.pinfold() as pinfold:
            session = await ran(pinfold, "worker")
            assert await lines_of(pinfold, session.id) == ["prepared"]
            yield pinfold


async def prepared_times(pinfold: Pinfold, alias: str) -> int:
    """How often the step was done in an agent's workspace, once another session ran."""
    session = await ran(pinfold, alias)
    return (await lines_of(pinfold, session.id)).count("prepared")


async def test_after_a_rename(prepared: Pinfold):
    plan = await prepared.operations.plan_rename("worker", "digger")
    assert not any("once" in note for note in plan.notes)
    await done(prepared, plan)
    assert await prepared_times(prepared, "digger") == 1


async def test_after_a_rename_that_copied_the_workspace(prepared: Pinfold):
    def crossing(source: Path, target: Path) -> None:
        if source.name == "worker":
            raise OSError(errno.EXDEV, "crosses file systems")
        source.rename(target)

    operations = prepared.operations
    operations._house = replace(operations._house, rename=crossing)
    await done(prepared, await operations.plan_rename("worker", "digger"))
    assert await prepared_times(prepared, "digger") == 1


@pytest.mark.parametrize("target", ["worker", "digger"])
async def test_after_a_delete_and_a_restore(prepared: Pinfold, target: str):
    operation = await done(prepared, await prepared.operations.plan_delete("worker"))
    assert not list((prepared.home.state_dir / "prepared").iterdir())
    await done(prepared, await prepared.operations.plan_restore(operation.archive, alias=target))
    assert await prepared_times(prepared, target) == 1


async def test_but_in_a_new_workspace_it_runs_again_though_the_old_one_had_the_same_alias(
    prepared: Pinfold, world: World
):
    await done(prepared, await prepared.operations.plan_delete("worker"))
    world.agent("worker", "cat log", sandbox=ONCE)
    await prepared.agents.load()
    assert await prepared_times(prepared, "worker") == 1


def test_what_is_known_of_an_earlier_workspace_does_not_pass_to_the_new_alias(world: World, tmp_path: Path):
    markers = OnceMarkers(world.home)
    earlier, now = tmp_path / "earlier", tmp_path / "now"
    for workspace, name in ((earlier, "cloned"), (now, "built")):
        workspace.mkdir()
        markers.restore("worker", workspace, (name,))
    markers.restore("digger", now, ("somebody else's",))
    markers.settle("worker", now, "digger")
    for _ in range(2):
        markers.rename("worker", "digger", now)
        assert markers.of("digger", now) == ("built",)
    assert markers.of("digger", earlier) == markers.of("worker", now) == ()
