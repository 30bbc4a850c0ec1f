"""A delete keeps all that is an agent's in an archive; each fault that is known of others is named by its test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from services.archives import ArchiveState, result_of
from services.memory import Draft
from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, refusal, visible
from tests.support.estates import AGENT, estate
from tests.support.sessions import World


class TestPlan:
    async def test_it_changes_nothing(self, pinfold: Pinfold, world: World):
        """Upstream, one of its surfaces showed a plan that left out sessions."""
        before = estate(world.home)
        plan = await pinfold.operations.plan_delete(AGENT)
        assert plan.allowed
        assert estate(world.home) == before
        assert {rewrite.owner: len(rewrite.changes) for rewrite in plan.rewrites} == {"": 1, "lead": 3}
        assert sum(reference.kind == "session" for reference in plan.references) == 1
        moved = {effect.what: (effect.action, effect.files) for effect in plan.effects if effect.files}
        assert moved == {"the workspace": ("moved", 7)}
        assert plan.point_of_no_return == "remove"

    async def test_every_reason_is_listed_at_once(self, pinfold: Pinfold, world: World):
        world.agent("guest", rest=f'[workspace]\npath = "../{AGENT}/workspace"')
        (world.home.agent_dir(AGENT) / "notes.txt").write_text("beside")
        world.home.agent_file("lead").write_text("[agent\n")
        told = await refusal(pinfold)
        assert "guest works in its directory" in told
        assert "notes.txt is not in its workspace" in told
        assert "lead may name it, but its file cannot be used" in told
        assert "Give guest a workspace of its own first." in told

    @pytest.mark.parametrize("alias", ["default", "nobody", "../lead"])
    async def test_what_is_no_agent_is_refused(self, pinfold: Pinfold, world: World, alias: str):
        """Upstream, the reserved alias could be deleted by another surface."""
        before = estate(world.home)
        assert await refusal(pinfold, alias)
        assert estate(world.home) == before

    async def test_an_agent_whose_own_file_is_broken_is_not_deleted(self, pinfold: Pinfold, world: World):
        """It does not say where its workspace and its memory are."""
        world.home.agent_file(AGENT).write_text("[agent\n")
        assert "its agent.toml cannot be used" in await refusal(pinfold)


async def test_all_of_it_is_in_the_archive_and_nothing_of_it_is_left(pinfold: Pinfold, world: World):
    before = estate(world.home)
    operation = await done(pinfold, await pinfold.operations.plan_delete(AGENT))
    assert (operation.state, operation.warnings) == (OperationState.DONE, ())
    after = estate(world.home)
    assert visible(after) == {"writer", "lead"}
    for what in ("memories", "core memory"):
        assert after[what] == [row for row in before[what] if row[0] == "writer"]
    assert (after["sessions"], after["steps"], after["output"], after["keys"]) == ([], [], {}, [])
    assert [context[1] for context in after["contexts"]] == [""]
    assert await pinfold.operations.references(AGENT) == ()
    (archive,) = await pinfold.archives.list()
    assert (archive.id, archive.state) == (operation.archive, ArchiveState.SEALED)
    assert (await result_of(pinfold.archives.verify(archive.id))).intact
    manifest = (await pinfold.archives.open(archive.id)).manifest
    counts = {count.what: (count.before, count.exported, count.purged) for count in manifest.counts}
    assert counts["memory"] == (5, 5, 5)
    assert counts["sessions"] == (1, 1, 1)
    assert {(one.file, one.key) for one in manifest.references} == {
        ("lead", "agent.delegates[0]"),
        ("lead", "workspace.access.reviewer"),
        ("lead", "memory.read_memory_from[1]"),
        ("pinfold.toml", "defaults.memory.read_memory_from[0]"),
    }
    assert sorted(path.name for path in world.home.agents_dir.iterdir()) == ["lead", "writer"]


async def test_an_alias_that_is_used_again_begins_with_nothing(pinfold: Pinfold, world: World):
    """Upstream, the row with the agent's id stayed, and a new agent of this name got it."""
    old = await pinfold.agent_memories.of(AGENT).get("key 1")
    await done(pinfold, await pinfold.operations.plan_delete(AGENT))
    world.agent(AGENT)
    await pinfold.agents.load()
    memory = pinfold.agent_memories.of(AGENT)
    assert await memory.count() == 0
    row = await memory.store(Draft(key="k", content="new"))
    assert old is not None
    assert row.agent_id != old.agent_id
    assert await pinfold.core_memory.tenants.find(AGENT) is None


async def test_memory_in_files_is_exported_as_rows_too(pinfold: Pinfold, world: World):
    """Upstream, the export of such a memory was empty, with a warning."""
    world.agent("noter", rest='[memory]\nbackend = "markdown"')
    await pinfold.agents.load()
    await pinfold.agent_memories.of("noter").store(Draft(key="k", content="kept in a file"))
    operation = await done(pinfold, await pinfold.operations.plan_delete("noter"))
    opened = await pinfold.archives.open(operation.archive)
    assert [row.content async for page in opened.memory() for row in page] == ["kept in a file"]
    tree = await result_of(opened.tree())
    assert "workspace/MEMORY.md" in tree.by_path


async def test_two_deletes_in_one_second_have_archives_of_their_own(world: World):
    """Upstream, they shared a directory, and the second workspace stayed behind."""
    async with world.pinfold(supervise=False, now=lambda: 1_800_000_000_000_000_000) as pinfold:
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        world.agent(AGENT)
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        first, second = await pinfold.archives.list()
        assert {first.state, second.state} == {ArchiveState.SEALED}
        assert first.path != second.path


class TestWorkspaces:
    @pytest.fixture
    def place(self, world: World, tmp_path: Path) -> Path:
        place = tmp_path / "elsewhere"
        place.mkdir()
        (place / "work.txt").write_text("mine")
        file = world.home.agent_file(AGENT)
        file.write_text(file.read_text() + f'\n[workspace]\npath = "{place}"\n')
        shutil.rmtree(world.home.default_workspace(AGENT))
        return place

    async def preview(self, pinfold: Pinfold, path: str) -> bytes:
        (archive,) = await pinfold.archives.list()
        return (await result_of((await pinfold.archives.open(archive.id)).preview(path))).data

    async def test_that_lie_elsewhere_are_archived(self, pinfold: Pinfold, place: Path):
        """Upstream, their place was looked up once it was no longer known."""
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert not place.exists()
        assert await self.preview(pinfold, "workspace/work.txt") == b"mine"

    async def test_that_lie_elsewhere_can_be_kept(self, pinfold: Pinfold, place: Path):
        await done(pinfold, await pinfold.operations.plan_delete(AGENT, keep_workspace=True))
        assert (place / "work.txt").read_text() == "mine"
        assert await self.preview(pinfold, "workspace/work.txt") == b"mine"

    @pytest.mark.parametrize("below", ["", "inner"])
    async def test_that_another_agent_works_in_are_copied(self, pinfold, world, place, below):
        """Upstream, a shared workspace was moved away from whoever was left."""
        (place / "inner").mkdir()
        world.agent("guest", rest=f'[workspace]\npath = "{place / below}"')
        plan = await pinfold.operations.plan_delete(AGENT)
        assert any("guest works there too" in note for note in plan.notes)
        await done(pinfold, plan)
        assert (place / "work.txt").read_text() == "mine"
        assert await self.preview(pinfold, "workspace/work.txt") == b"mine"

    async def test_that_a_link_leads_to_are_archived_and_the_link_goes(self, pinfold, world, tmp_path):
        default = world.home.default_workspace(AGENT)
        default.rename(tmp_path / "real")
        default.symlink_to(tmp_path / "real")
        await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert not (tmp_path / "real").exists()
        assert not os.path.lexists(world.home.agent_dir(AGENT))
        assert await self.preview(pinfold, "workspace/src/0.txt") == b"line 0\n" * 50

    async def test_with_any_name_and_kind_of_file_are_archived(self, pinfold, world):
        workspace = world.home.default_workspace(AGENT)
        for name in (b"\xff\xfe", b"n" * 255, b"line\nbreak", b" "):
            (workspace / os.fsdecode(name)).write_bytes(name)
        os.mkfifo(workspace / "pipe")
        (workspace / "twin").hardlink_to(workspace / "src" / "0.txt")
        operation = await done(pinfold, await pinfold.operations.plan_delete(AGENT))
        assert operation.state is OperationState.DONE
        assert not workspace.exists()
        manifest = (await pinfold.archives.open(operation.archive)).manifest
        assert [(one.name, one.reason) for one in manifest.left_out] == [("pipe", "a named pipe")]
