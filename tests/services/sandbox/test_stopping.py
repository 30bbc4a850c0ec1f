from __future__ import annotations

import asyncio
import os
import signal

import pytest

from services.errors import SessionNotFound, SessionRefused
from services.pinfold import Pinfold
from services.sandbox import Session, SessionState
from tests.support.sessions import (
    WAIT,
    World,
    ended,
    lines_of,
    logged,
    printed,
    ran,
    started,
    step_states,
    steps_named,
    until,
)

LOOP = "echo up; while :; do sleep 0.05; done"
RUNGS = (("interrupted", "TERM"), ("sent TERM", "KILL"))
QUICK = "stop_timeout = '1s'"


async def up(pinfold: Pinfold, alias: str = "worker") -> Session:
    """A session whose script has set its traps."""
    session = await started(pinfold, alias)
    await printed(pinfold, session.id, "up")
    return session


async def rungs(pinfold: Pinfold, session: str) -> list[tuple[str, str]]:
    names = ("interrupt", "terminate", "kill")
    return [(name, state) for name, state in await step_states(pinfold, session) if name in names]


@pytest.mark.parametrize(
    ("traps", "climbed", "said"),
    [
        pytest.param("trap 'echo bye; exit 0' INT", [("interrupt", "done")], "after an interrupt, status 0", id="INT"),
        pytest.param(
            "trap '' INT; trap 'exit 9' TERM",
            [("interrupt", "failed"), ("terminate", "done")],
            "after TERM, status 9",
            id="TERM",
        ),
        pytest.param(
            "trap '' INT TERM",
            [("interrupt", "failed"), ("terminate", "failed"), ("kill", "done")],
            "by KILL, status 137",
            id="KILL",
        ),
    ],
)
async def test_a_stop_climbs_as_far_as_it_must(world: World, traps, climbed, said):
    world.agent(script=f"{traps}; {LOOP}", sandbox=QUICK)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        async with asyncio.timeout(WAIT):
            stopped = await pinfold.sandboxes.stop(session.id)
        assert (stopped.state, said in stopped.detail) == (SessionState.STOPPED, True)
        assert await rungs(pinfold, session.id) == climbed
        verbs = await logged(pinfold, session.id)
        assert verbs[:3] == ["session.start", "session.stop", "session.interrupt"]
        assert verbs.count("session.end") == 1


async def test_each_rung_says_what_comes_next_and_when(world: World):
    world.agent(script=f"trap '' INT TERM; {LOOP}", sandbox="stop_timeout = '2s'")
    seen: list[str] = []

    def told(found: Session) -> bool:
        if found.detail not in seen:
            seen.append(found.detail)
        return found.state.ended

    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        stopping = asyncio.create_task(pinfold.sandboxes.stop(session.id))
        await until(pinfold, session.id, told)
        await stopping
    expected = [
        "interrupted; TERM in 2 s",
        "interrupted; TERM in 1 s",
        "sent TERM; KILL in 2 s",
        "sent TERM; KILL in 1 s",
    ]
    assert [detail for detail in seen if detail in expected] == expected


async def test_whoever_asked_may_go_away_and_the_ladder_goes_on(world: World):
    world.agent(script=f"trap '' INT TERM; {LOOP}", sandbox=QUICK)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        stopping = asyncio.create_task(pinfold.sandboxes.stop(session.id))
        await until(pinfold, session.id, lambda found: found.state is SessionState.STOPPING)
        stopping.cancel()
        assert (await ended(pinfold, session.id)).state is SessionState.STOPPED


async def test_a_kill_cuts_a_stop_short(world: World):
    world.agent(script=f"trap '' INT TERM; {LOOP}", sandbox="stop_timeout = '60s'")
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        stopping = asyncio.create_task(pinfold.sandboxes.stop(session.id))
        await until(pinfold, session.id, lambda found: found.state is SessionState.STOPPING)
        async with asyncio.timeout(WAIT):
            killed = await pinfold.sandboxes.kill(session.id)
            assert (await stopping).state is SessionState.STOPPED
        assert (killed.state, killed.exit_code) == (SessionState.STOPPED, 137)
        assert [name for name, _ in await rungs(pinfold, session.id)] == ["interrupt", "kill"]


async def test_a_kill_sends_nothing_else(world: World):
    world.agent(script=f"trap 'echo asked' INT TERM; {LOOP}")
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        killed = await pinfold.sandboxes.kill(session.id)
        assert (killed.state, killed.detail) == (SessionState.STOPPED, "stopped by KILL, status 137")
        assert await lines_of(pinfold, session.id) == ["up"]


async def test_two_who_stop_one_session_climb_one_ladder(world: World):
    world.agent(script=f"trap '' INT TERM; {LOOP}", sandbox=QUICK)
    async with world.pinfold() as here, world.pinfold() as there:
        session = await up(here)
        both = await asyncio.gather(*(pinfold.sandboxes.stop(session.id) for pinfold in (here, there) * 3))
        assert {stopped.state for stopped in both} == {SessionState.STOPPED}
        assert await rungs(here, session.id) == [("interrupt", "failed"), ("terminate", "failed"), ("kill", "done")]
        verbs = await logged(here, session.id)
        assert [verbs.count(verb) for verb in ("session.stop", "session.kill", "session.end")] == [1, 1, 1]


async def test_a_stop_whose_pinfold_has_gone_is_taken_over_where_it_was(world: World):
    world.agent(script=f"trap '' INT; trap 'exit 4' TERM; {LOOP}", sandbox="stop_timeout = '2s'")
    async with world.pinfold(supervise=False) as pinfold:
        session = await up(pinfold)
        stopping = asyncio.create_task(pinfold.sandboxes.stop(session.id))
        await until(pinfold, session.id, lambda found: "TERM in" in found.detail)
        stopping.cancel()
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, session.id)
        assert (found.state, found.exit_code) == (SessionState.STOPPED, 4)
        assert [name for name, _ in await rungs(pinfold, session.id)] == ["interrupt", "terminate"]


async def test_a_handled_interrupt_leaves_the_session_running_and_another_ends_it_as_stopped(world: World):
    world.agent(script=f"trap 'echo asked; trap - INT' INT; {LOOP}", sandbox="lifecycle = 'persistent'")
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        await pinfold.sandboxes.interrupt(session.id)
        await printed(pinfold, session.id, "asked")
        assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING
        await pinfold.sandboxes.interrupt(session.id)
        found = await ended(pinfold, session.id)
        assert (found.state, found.exit_code) == (SessionState.STOPPED, 130)
        assert [step.state for step in await steps_named(pinfold, session.id, "interrupt")] == ["done", "done"]
        with pytest.raises(SessionRefused, match="stopped"):
            await pinfold.sandboxes.interrupt(session.id)


async def test_a_signal_from_elsewhere_is_told_from_ours(world: World):
    world.agent(script=f"echo $$ > pid; {LOOP}", sandbox="lifecycle = 'persistent'", profile="plain")
    world.env["PATH"] = without_bubblewrap(world)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        os.kill(int((world.home.default_workspace("worker") / "pid").read_text()), signal.SIGKILL)
        found = await ended(pinfold, session.id)
        assert (found.state, found.exit_code) == (SessionState.KILLED, 137)
        assert "SIGKILL" in found.detail


def without_bubblewrap(world: World) -> str:
    """A PATH whose process numbers are this machine's, since nothing there confines."""
    directory = world.home.root.parent / "bin"
    directory.mkdir()
    for program in ("sh", "sleep"):
        (directory / program).symlink_to(f"/bin/{program}")
    return str(directory)


async def test_stopping_what_has_ended_changes_nothing(world: World):
    world.agent(script="exit 3")
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
        assert (await pinfold.sandboxes.stop(session.id)).state is SessionState.FAILED
        assert (await pinfold.sandboxes.kill(session.id)).state is SessionState.FAILED
        assert "session.stop" not in await logged(pinfold)


async def test_a_live_session_is_removed_only_by_force_and_then_without_a_trace(world: World):
    world.agent(script=LOOP)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        with pytest.raises(SessionRefused, match="running"):
            await pinfold.sandboxes.remove(session.id)
        before = (await pinfold.sandboxes.changed_since(0)).revision
        async with asyncio.timeout(WAIT):
            await pinfold.sandboxes.remove(session.id, force=True)
        with pytest.raises(SessionNotFound):
            await pinfold.sandboxes.session(session.id)
        assert (await pinfold.sandboxes.changed_since(before)).removed == (session.id,)
        assert not world.home.session_dir(session.id).exists()
        assert await pinfold.sandboxes.find_orphans() == ()
        assert (await logged(pinfold))[-1] == "session.remove"


async def test_a_shell_works_in_the_sandbox_and_is_refused_where_none_can_be(world: World):
    world.agent(script=LOOP)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        shell = await pinfold.sandboxes.shell(session.id, ("sh", "-c", "echo in $PINFOLD_AGENT"), 80, 24)
        said = b""
        async with asyncio.timeout(WAIT):
            while piece := await shell.read():
                said += piece
            assert await shell.wait() == 0
        await shell.close()
        assert b"in worker" in said
        await pinfold.sandboxes.kill(session.id)
        with pytest.raises(SessionRefused, match="stopped"):
            await pinfold.sandboxes.shell(session.id, (), 80, 24)


async def test_usage_is_told_while_a_session_runs_and_ends_with_it(world: World):
    world.agent(script=LOOP)
    async with world.pinfold() as pinfold:
        session = await up(pinfold)
        samples = 0
        async with asyncio.timeout(WAIT):
            async for used in pinfold.sandboxes.usage(session.id):
                assert used.memory > 0
                samples += 1
                if samples == 2:
                    await pinfold.sandboxes.kill(session.id)
        assert samples >= 2
        assert [used async for used in pinfold.sandboxes.usage(session.id)] == []


async def test_the_end_of_a_stop_that_nobody_supervises_is_recorded_too(world: World):
    world.agent(script=f"echo one; {LOOP}")
    async with world.pinfold(supervise=False) as pinfold:
        session = await started(pinfold)
        async with asyncio.timeout(WAIT):
            stopped = await pinfold.sandboxes.stop(session.id)
        assert (stopped.state, stopped.sandbox) == (SessionState.STOPPED, "")
