"""One list of what names an agent and of what is its own; what is hard keeps it from being deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.operations import OperationState
from services.pinfold import Pinfold
from tests.services.operations.conftest import done, refusal
from tests.support.estates import AGENT, estate
from tests.support.sessions import World


async def test_every_place_is_listed_with_its_line(pinfold: Pinfold, world: World):
    found = await pinfold.operations.references(AGENT)
    assert [one for one in found if one.hard] == []
    listed = {(one.owner, one.kind, one.key): one.value for one in found}
    session = (await pinfold.sandboxes.sessions())[0]
    assert listed == {
        ("", "read_memory_from", "defaults.memory.read_memory_from[0]"): "",
        ("lead", "access", "workspace.access.reviewer"): "read",
        ("lead", "read_memory_from", "memory.read_memory_from[1]"): "",
        ("lead", "delegate", "agent.delegates[0].agent"): "independent",
        (AGENT, "session", session.id): "",
        (AGENT, "memory", ""): "",
        (AGENT, "core memory", ""): "",
        (AGENT, "context", ""): "",
    }
    for one in found:
        if one.file:
            assert AGENT in Path(one.file).read_text().splitlines()[one.line - 1]


async def test_nobody_is_named_nowhere(pinfold: Pinfold):
    assert await pinfold.operations.references("nobody") == ()


async def test_a_context_in_which_somebody_works_is_hard(pinfold: Pinfold):
    context = await pinfold.memory.contexts.open(agent=AGENT)
    assert "1 contexts are being worked in" in await refusal(pinfold)
    await pinfold.memory.contexts.release(context.id)
    assert (await pinfold.operations.plan_delete(AGENT)).allowed


async def test_memory_on_its_way_to_another_back_end_is_hard(pinfold: Pinfold):
    moves = (
        "INSERT INTO memory_moves (alias, source, target, kept, started_at) VALUES (?, 'sqlite', 'markdown', '{}', 1)"
    )
    await pinfold.database.write(lambda c: c.execute(moves, (AGENT,)))
    assert "its memory is being moved to another back-end" in await refusal(pinfold)
    plan = await pinfold.operations.plan_rename(AGENT, "critic")
    assert not plan.allowed


async def test_another_agent_in_its_directory_is_hard_for_a_delete_and_rewritten_by_a_rename(pinfold, world):
    world.agent("guest", rest=f'[workspace]\npath = "../{AGENT}/workspace/src"')
    assert "guest works in its directory" in await refusal(pinfold)
    plan = await pinfold.operations.plan_rename(AGENT, "critic")
    assert plan.allowed
    assert "guest" in {rewrite.owner for rewrite in plan.rewrites}


class TestWhatWasInterruptedBeforeItChangedAnything:
    @pytest.fixture
    async def interrupted(self, pinfold: Pinfold, monkeypatch: pytest.MonkeyPatch) -> str:
        """An operation whose process was killed while it exported."""
        running = pinfold.operations.carry_out(await pinfold.operations.plan_delete(AGENT))
        async for progress in running:
            if progress.step == "export":
                break
        await pinfold.database.write(lambda c: c.execute("UPDATE operations SET state = 'running'"))
        await running.aclose()
        await pinfold.database.write(lambda c: c.execute("UPDATE operations SET state = 'running', ended_at = NULL"))
        (operation,) = await pinfold.operations.unfinished()
        assert (operation.state, operation.committed) == (OperationState.INTERRUPTED, False)
        return operation.id

    async def test_holds_nobody_up_and_gives_way_to_something_else(self, pinfold, world, interrupted):
        plan = await pinfold.operations.plan_rename(AGENT, "critic")
        assert plan.allowed
        await done(pinfold, plan)
        assert (await pinfold.operations.get(interrupted)).state is OperationState.CANCELLED
        assert await pinfold.operations.unfinished() == []
        assert await pinfold.archives.list() == []

    async def test_is_planned_anew_by_a_retry(self, pinfold, world, interrupted):
        world.agent("late", rest=f'[workspace]\naccess = {{ {AGENT} = "read" }}')
        operation = None
        async for progress in pinfold.operations.retry(interrupted):
            operation = progress.operation
        assert operation is not None
        assert operation.state is OperationState.DONE
        assert "late" in {rewrite.owner for rewrite in operation.plan.rewrites}
        assert AGENT not in {name.split("/")[0] for name in estate(world.home)["files"]}
