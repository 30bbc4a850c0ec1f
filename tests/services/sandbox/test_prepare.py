from __future__ import annotations

import pytest

from services.errors import PinfoldError
from services.sandbox import SessionState
from tests.support.sessions import World, lines_of, ran, started, steps_named

PREPARED = """prepare = [
  {{ action = "exec", cmd = ["sh", "-c", "echo one >> log"], once = {once} }},
  {{ action = "exec", cmd = ["sh", "-c", "echo two >> log; echo told why; exit {status}"], ignore_error = {ignore} }},
]"""


async def test_prepare_steps_run_in_order_before_the_command(world: World):
    world.agent(script="echo main >> log; cat log", sandbox=PREPARED.format(once="false", status=0, ignore="false"))
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert await lines_of(pinfold, session.id) == ["one", "two", "main"]
        assert session.state is SessionState.EXITED
        assert [step.state for step in await steps_named(pinfold, session.id, "prepare")] == ["done"] * 3


async def test_a_failed_prepare_step_fails_the_session_and_the_command_never_runs(world: World):
    world.agent(script="echo main >> log", sandbox=PREPARED.format(once="false", status=5, ignore="false"))
    async with world.pinfold() as pinfold:
        with pytest.raises(PinfoldError, match="status 5: told why"):
            await started(pinfold)
        (session,) = await pinfold.sandboxes.sessions()
        assert (session.state, session.sandbox, session.started_at) == (SessionState.FAILED, "", None)
        assert "told why" in session.detail
        assert (await steps_named(pinfold, session.id, "prepare"))[-1].state == "failed"
        reader = await pinfold.sandboxes.output(session.id)
        assert reader.complete
        reader.close()
    assert (world.home.default_workspace("worker") / "log").read_text() == "one\ntwo\n"


async def test_a_prepare_step_whose_errors_are_ignored_is_told_and_passed_over(world: World):
    world.agent(script="cat log", sandbox=PREPARED.format(once="false", status=5, ignore="true"))
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert session.state is SessionState.EXITED
        assert "ignored" in (await steps_named(pinfold, session.id, "prepare"))[-1].detail


async def test_a_once_step_runs_once_for_a_workspace_whatever_the_agent_does_to_it(world: World):
    world.agent(script="rm -f log", sandbox=PREPARED.format(once="true", status=0, ignore="false"))
    async with world.pinfold() as pinfold:
        await ran(pinfold)
        second = await ran(pinfold, command=("cat", "log"))
        assert await lines_of(pinfold, second.id) == ["two"]


async def test_a_once_step_that_was_changed_runs_again(world: World):
    world.agent(script="rm -f log", sandbox=PREPARED.format(once="true", status=0, ignore="false"))
    async with world.pinfold(supervise=False) as pinfold:
        await ran(pinfold)
        world.agent(
            script="cat log", sandbox=PREPARED.format(once="true", status=0, ignore="false").replace("one", "uno")
        )
        await pinfold.agents.load()
        second = await ran(pinfold)
        assert await lines_of(pinfold, second.id) == ["uno", "two"]
