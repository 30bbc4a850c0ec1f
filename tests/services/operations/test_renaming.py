"""A rename takes everything along, refuses before it starts what it cannot do, and converges from anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.errors import FileConflict, OperationRefused, SessionRefused
from services.memory import Draft
from services.operations import OperationState, described
from services.pinfold import Pinfold
from services.sandbox import StartRequest
from tests.services.operations.conftest import done, retried
from tests.support.estates import AGENT, estate, under
from tests.support.sessions import World, cleaned_up, started


async def refusal(pinfold: Pinfold, alias: str, target: str, **options: Any) -> str:
    plan = await pinfold.operations.plan_rename(alias, target, **options)
    with pytest.raises(OperationRefused) as raised:
        await done(pinfold, plan)
    assert not plan.allowed
    return str(raised.value)


class TestPlan:
    async def test_it_shows_every_file_that_is_rewritten_and_changes_nothing(self, pinfold: Pinfold, world: World):
        before = estate(world.home)
        plan = await pinfold.operations.plan_rename(AGENT, "critic")
        assert plan.allowed
        assert estate(world.home) == before
        assert {rewrite.owner: len(rewrite.changes) for rewrite in plan.rewrites} == {"": 1, "lead": 3}
        (lead,) = (rewrite for rewrite in plan.rewrites if rewrite.owner == "lead")
        assert '-agent = "reviewer"  # finds what others miss' in lead.diff
        assert '+agent = "critic"  # finds what others miss' in lead.diff
        assert [(change.key, change.old, change.new) for change in lead.changes] == [
            ("agent.delegates[0].agent", "reviewer", "critic"),
            ("workspace.access.reviewer", "reviewer", "critic"),
            ("memory.read_memory_from[1]", "reviewer", "critic"),
        ]

    async def test_its_text_names_blockers_references_effects_and_the_point_of_no_return(self, pinfold: Pinfold):
        plan = await pinfold.operations.plan_rename(AGENT, "critic")
        text = "\n".join(described(plan))
        for part in ("Rename reviewer to critic", "lead hands work to it", "5 memories", "can only be completed"):
            assert part in text.replace("memories (5)", "5 memories")

    async def test_a_plan_is_refused_once_a_file_is_another(self, pinfold: Pinfold, world: World):
        plan = await pinfold.operations.plan_rename(AGENT, "critic")
        file = world.home.agent_file("lead")
        file.write_text(file.read_text() + "\n# looked at\n")
        before = estate(world.home)
        with pytest.raises(FileConflict, match="changed since the plan was made"):
            await done(pinfold, plan)
        assert estate(world.home) == before
        assert await pinfold.operations.all() == []


async def test_everything_goes_along(pinfold: Pinfold, world: World):
    before = estate(world.home)
    operation = await done(pinfold, await pinfold.operations.plan_rename(AGENT, "critic"))
    assert (operation.state, operation.warnings) == (OperationState.DONE, ())
    assert estate(world.home) == under("critic", before)
    assert [step.state for step in operation.steps] == ["done"] * len(operation.steps)
    assert await pinfold.operations.references(AGENT) == ()
    (entry,) = [entry for entry in await pinfold.activity.recent() if entry.verb == "agent.rename"]
    assert (entry.agent, entry.outcome, entry.detail) == (AGENT, "done", "to critic")


async def test_it_goes_back_again(pinfold: Pinfold, world: World):
    before = estate(world.home)
    await done(pinfold, await pinfold.operations.plan_rename(AGENT, "critic"))
    await done(pinfold, await pinfold.operations.plan_rename("critic", AGENT))
    assert estate(world.home) == before


@pytest.mark.parametrize(
    ("alias", "target", "reason"),
    [
        pytest.param(AGENT, AGENT, "the new alias is the old one", id="to itself"),
        pytest.param(AGENT, "default", '"default" is reserved', id="to the reserved alias"),
        pytest.param("default", "critic", '"default" is reserved', id="from the reserved alias"),
        pytest.param(AGENT, "Critic", "only lower-case letters", id="to an upper-case alias"),
        pytest.param(AGENT, "../critic", "only lower-case letters", id="to a path"),
        pytest.param(AGENT, "", "at least one character", id="to nothing"),
        pytest.param(AGENT, "lead", "is there already", id="to an agent that is there"),
        pytest.param("nobody", "critic", "there is no agent nobody", id="from nobody"),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_changes(pinfold, world, alias, target, reason):
    before = estate(world.home)
    assert reason in await refusal(pinfold, alias, target)
    assert estate(world.home) == before
    assert await pinfold.operations.all() == []


async def test_a_target_with_files_of_its_own_is_refused(pinfold: Pinfold, world: World):
    (world.home.agents_dir / "critic").mkdir()
    assert "is there already" in await refusal(pinfold, AGENT, "critic")


async def test_a_target_with_rows_of_its_own_is_refused(pinfold: Pinfold, world: World):
    world.agent("critic")
    await pinfold.agents.load()
    await pinfold.agent_memories.of("critic").store(Draft(key="k", content="its own"))
    tenant = await pinfold.core_memory.tenants.of_agent("critic")
    await pinfold.core_memory.archive(tenant).insert("its own")
    for path in sorted(world.home.agent_dir("critic").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    world.home.agent_dir("critic").rmdir()
    told = await refusal(pinfold, AGENT, "critic")
    assert "memories of its own: 1" in told
    assert "core memory of its own" in told


async def test_a_target_that_others_name_already_is_refused_since_they_would_be_granted_something(
    pinfold: Pinfold, world: World
):
    world.agent("nosy", rest='[workspace]\naccess = { critic = "read_write" }')
    assert "nosy names critic, which would mean this agent" in await refusal(pinfold, AGENT, "critic")


async def test_a_file_that_cannot_be_read_may_name_the_agent_so_it_is_in_the_way(pinfold: Pinfold, world: World):
    world.home.agent_file("lead").write_text("[agent\n")
    assert "lead may name it, but its file cannot be used" in await refusal(pinfold, AGENT, "critic")


async def test_paths_into_the_directory_are_rewritten_also_in_its_own_file(pinfold: Pinfold, world: World):
    home = world.home
    own = home.agent_dir(AGENT)
    world.agent("guest", rest=f'[workspace]\npath = "../{AGENT}/workspace/src"')
    world.agent("guard", rest=f'[permissions]\nforbidden_paths = ["{own}/workspace/secret", "/srv/{AGENT}"]')
    file = home.agent_file(AGENT)
    file.write_text(file.read_text().replace('"/srv"', f'"{own}/shared", "/srv"'))
    await done(pinfold, await pinfold.operations.plan_rename(AGENT, "critic"))
    new = home.agent_dir("critic")
    assert 'path = "../critic/workspace/src"' in home.agent_file("guest").read_text()
    assert f'["{new}/workspace/secret", "/srv/{AGENT}"]' in home.agent_file("guard").read_text()
    assert f'["{new}/shared", "/srv"]' in home.agent_file("critic").read_text()


async def test_a_custom_workspace_stays_and_the_plan_says_so(pinfold: Pinfold, world: World, tmp_path: Path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "work").write_text("mine")
    file = world.home.agent_file(AGENT)
    file.write_text(file.read_text() + f'\n[workspace]\npath = "{place}"\n')
    plan = await pinfold.operations.plan_rename(AGENT, "critic")
    assert f"the workspace stays at {place}" in plan.notes
    await done(pinfold, plan)
    assert pinfold.agents.get("critic").workspace == place
    assert (place / "work").read_text() == "mine"


class TestSessions:
    async def test_that_run_are_in_the_way_unless_they_are_to_be_stopped(self, world: World):
        async with cleaned_up(world):
            world.agent("worker", "sleep 60", sandbox="stop_timeout = '100ms'")
            async with world.pinfold() as pinfold:
                session = await started(pinfold)
                told = await refusal(pinfold, "worker", "digger")
                assert f"session {session.id} is running" in told
                plan = await pinfold.operations.plan_rename("worker", "digger", stop_sessions=True)
                operation = await done(pinfold, plan)
                assert operation.state is OperationState.DONE
                found = await pinfold.sandboxes.session(session.id)
                assert (found.agent, found.state.live) == ("digger", False)
                assert found.workspace == str(world.home.default_workspace("digger"))

    async def test_are_not_started_while_a_rename_is_unfinished(self, world: World, pinfold: Pinfold):
        """Upstream, an agent used under its new alias before the retry could never be renamed to the end."""
        operation = await stopped_behind(pinfold, "move")
        await pinfold.agents.load()
        with pytest.raises(SessionRefused, match=operation):
            async for _ in pinfold.sandboxes.start(StartRequest("critic")):
                pass


async def stopped_behind(pinfold: Pinfold, name: str) -> str:
    """Carry out a rename to the end of a step, and let nobody run it any more; return its id."""
    plan = await pinfold.operations.plan_rename(AGENT, "critic")
    following = [step.name for step in plan.steps].index(name) + 2
    running = pinfold.operations.carry_out(plan)
    async for progress in running:
        if any(step.number == following and step.state == "running" for step in progress.operation.steps):
            break
    await running.aclose()
    (operation,) = await pinfold.operations.unfinished()
    return operation.id


class TestConverging:
    @pytest.mark.parametrize("name", ["move", "memory", "sessions"])
    @pytest.mark.parametrize("by", ["retry", "the same command"])
    async def test_from_behind_each_step(self, pinfold: Pinfold, world: World, name: str, by: str):
        """Upstream, only one of its two surfaces could go on with a rename: the other said that there is no agent."""
        before = estate(world.home)
        operation = await stopped_behind(pinfold, name)
        assert estate(world.home) != before
        if by == "retry":
            ended = await retried(pinfold, operation)
        else:
            plan = await pinfold.operations.plan_rename(AGENT, "critic")
            assert plan.resumes == operation
            ended = await done(pinfold, plan)
        assert (ended.id, ended.state) == (operation, OperationState.DONE)
        assert estate(world.home) == under("critic", before)

    async def test_with_rows_that_were_stored_under_the_new_alias_meanwhile(self, pinfold: Pinfold, world: World):
        """Upstream, these made the rename refuse for ever."""
        operation = await stopped_behind(pinfold, "move")
        await pinfold.agents.load()
        await pinfold.agent_memories.of("critic").store(Draft(key="key 1", content="newer"))
        await pinfold.agent_memories.of("critic").store(Draft(key="new", content="only there"))
        await retried(pinfold, operation)
        rows = {row.key: row.content for row in await pinfold.agent_memories.of("critic").listed()}
        assert rows["key 1"] == "newer"
        assert rows["new"] == "only there"
        assert rows["key 2"] == "what was learned, 2"

    async def test_a_done_one_is_not_done_again(self, pinfold: Pinfold, world: World):
        """Upstream, renaming an alias that is gone onto a living agent looked like a rename to be resumed."""
        operation = await done(pinfold, await pinfold.operations.plan_rename(AGENT, "critic"))
        after = estate(world.home)
        assert "there is no agent reviewer" in await refusal(pinfold, AGENT, "critic")
        assert "there is no agent reviewer" in await refusal(pinfold, AGENT, "lead")
        with pytest.raises(OperationRefused, match="it is done"):
            await retried(pinfold, operation.id)
        assert estate(world.home) == after

    async def test_nothing_else_is_done_with_the_agent_before(self, pinfold: Pinfold):
        operation = await stopped_behind(pinfold, "move")
        for alias in (AGENT, "critic"):
            plan = await pinfold.operations.plan_rename(alias, "other")
            assert operation in str(plan.blockers) or "there is no agent" in str(plan.blockers)
