"""A restore gives back what was kept, and overwrites nothing without saying so."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from services.errors import OperationError, OperationRefused
from services.home import Home
from services.memory import Draft
from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, retried
from tests.support.estates import AGENT, estate, under
from tests.support.sessions import World


@pytest.fixture
def world(retired: Path, tmp_path: Path) -> World:
    root = tmp_path / "home"
    shutil.copytree(retired, root, symlinks=True)
    return World.existing(Home(root))


@pytest.fixture
def before(settled: Path) -> dict[str, Any]:
    """All there was before the agent was deleted."""
    return estate(Home(settled))


@pytest.fixture
def archive(world: World) -> str:
    """The archive of the agent, which was deleted."""
    (path,) = world.home.archives_dir.iterdir()
    return path.name


async def refusal(pinfold: Pinfold, archive: str, **options: Any) -> str:
    plan = await pinfold.operations.plan_restore(archive, **options)
    with pytest.raises(OperationRefused) as raised:
        await done(pinfold, plan)
    return str(raised.value)


def kept(found: dict[str, Any]) -> dict[str, Any]:
    """An estate without the files in which references are put back, if not to the letter."""
    return {**found, "shared": "", "files": {k: v for k, v in found["files"].items() if k != "lead/agent.toml"}}


class TestWholeAgents:
    async def test_come_back_as_they_were(self, pinfold, world, archive, before):
        operation = await done(pinfold, await pinfold.operations.plan_restore(archive, references=["*"]))
        assert (operation.state, operation.warnings) == (OperationState.DONE, ())
        assert kept(estate(world.home)) == kept(before)
        lead = tomllib.loads(world.home.agent_file("lead").read_text())
        assert lead["agent"]["delegates"] == [{"agent": AGENT, "mode": "independent"}]
        assert lead["workspace"]["access"] == {AGENT: "read", "writer": "read"}
        assert lead["memory"]["read_memory_from"] == ["writer", AGENT]

    async def test_come_back_under_another_alias(self, pinfold, world, archive, before):
        await done(pinfold, await pinfold.operations.plan_restore(archive, alias="critic", references=["*"]))
        assert kept(estate(world.home)) == kept(under("critic", before))

    async def test_come_back_with_memory_in_files(self, pinfold: Pinfold, world: World):
        world.agent("noter", rest='[memory]\nbackend = "markdown"')
        await pinfold.agents.load()
        await pinfold.agent_memories.of("noter").store(Draft(key="k", content="kept in a file"))
        archive = (await done(pinfold, await pinfold.operations.plan_delete("noter"))).archive
        await done(pinfold, await pinfold.operations.plan_restore(archive, alias="writer_two"))
        row = await pinfold.agent_memories.of("writer_two").get("k")
        assert row is not None
        assert row.content == "kept in a file"

    async def test_come_back_twice_side_by_side(self, pinfold: Pinfold, world: World, archive: str):
        for alias in (AGENT, "critic"):
            await done(pinfold, await pinfold.operations.plan_restore(archive, alias=alias))
        for alias in (AGENT, "critic"):
            assert await pinfold.agent_memories.of(alias).count() == 4
            assert (world.home.default_workspace(alias) / "src" / "0.txt").exists()
            tenant = await pinfold.core_memory.tenants.find(alias)
            assert tenant is not None

    async def test_offer_their_references_one_by_one(self, pinfold: Pinfold, world: World, archive: str):
        offered = await pinfold.operations.plan_restore(archive)
        assert offered.rewrites == ()
        keys = {f"{one.owner or 'pinfold.toml'}:{one.key}" for one in offered.references}
        assert "lead:memory.read_memory_from[1]" in keys
        assert len(keys) == 4
        plan = await pinfold.operations.plan_restore(archive, references=["lead:memory.read_memory_from[1]"])
        await done(pinfold, plan)
        named = [one.key for one in await pinfold.operations.references(AGENT) if one.file]
        assert named == ["memory.read_memory_from[1]"]

    async def test_are_refused_where_the_alias_is_taken(self, pinfold: Pinfold, world: World, archive: str):
        before = estate(world.home)
        assert "is there already" in await refusal(pinfold, archive, alias="lead")
        assert "only lower-case" in await refusal(pinfold, archive, alias="Lead")
        assert estate(world.home) == before

    async def test_are_refused_under_the_lock_where_it_is_taken_meanwhile(self, pinfold, world, archive):
        plan = await pinfold.operations.plan_restore(archive)
        world.agent(AGENT)
        before = estate(world.home)
        with pytest.raises(OperationRefused, match="is there already"):
            await done(pinfold, plan)
        assert estate(world.home) == before
        assert [operation.kind for operation in await pinfold.operations.all()] == ["delete"]

    async def test_are_not_put_over_what_appears_at_the_last_moment(self, pinfold, world, archive):
        plan = await pinfold.operations.plan_restore(archive)

        async def carry_out() -> None:
            async for progress in pinfold.operations.carry_out(plan):
                if progress.step == "extract" and not world.home.agent_dir(AGENT).exists():
                    world.agent(AGENT, "echo another")

        with pytest.raises(OperationRefused, match="was taken meanwhile"):
            await carry_out()
        assert "echo another" in world.home.agent_file(AGENT).read_text()

    async def test_with_a_workspace_elsewhere_get_it_back_there(self, pinfold, world, archive, tmp_path):
        await done(pinfold, await pinfold.operations.plan_restore(archive))
        place = tmp_path / "elsewhere"
        place.mkdir()
        (place / "work.txt").write_text("mine")
        file = world.home.agent_file(AGENT)
        file.write_text(file.read_text() + f'\n[workspace]\npath = "{place}"\n')
        for left in sorted(world.home.default_workspace(AGENT).rglob("*"), reverse=True):
            left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()
        archive = (await done(pinfold, await pinfold.operations.plan_delete(AGENT))).archive
        plan = await pinfold.operations.plan_restore(archive)
        assert f"the workspace is unpacked at {place}" in plan.notes
        await done(pinfold, plan)
        assert (place / "work.txt").read_text() == "mine"
        assert pinfold.agents.get(AGENT).workspace == place

    async def test_converge_when_they_fail_on_the_way(self, pinfold, world, archive, monkeypatch):
        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("services.operations.reviving._copy_output", fail)
        with pytest.raises(OperationError, match="No space left"):
            await done(pinfold, await pinfold.operations.plan_restore(archive))
        monkeypatch.undo()
        (operation,) = await pinfold.operations.unfinished()
        plan = await pinfold.operations.plan_restore(archive)
        assert plan.resumes == operation.id
        assert (await retried(pinfold, operation.id)).state is OperationState.DONE
        assert len(await pinfold.sandboxes.sessions()) == 1


async def test_an_archive_that_is_not_intact_restores_nothing(pinfold: Pinfold, world: World, archive: str):
    file = world.home.archives_dir / archive / "memory.jsonl"
    file.write_bytes(file.read_bytes().replace(b"learned", b"unknown"))
    before = estate(world.home)
    with pytest.raises(OperationError, match=r"memory.jsonl differs"):
        await done(pinfold, await pinfold.operations.plan_restore(archive))
    assert estate(world.home) == before


async def test_an_archive_that_is_not_there_is_refused(pinfold: Pinfold):
    assert "there is no archive" in await refusal(pinfold, "nobody-20260101000000")
