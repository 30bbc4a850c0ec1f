from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.errors import EngineError
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import Session, SessionState
from services.sandbox.engines.local import LocalEngine
from tests.services.sandbox.clock import Clock
from tests.support.sessions import (
    World,
    ended,
    eventually,
    lines_of,
    logged,
    printed,
    ran,
    started,
    steps_named,
    until,
)

HOUR = 3600.0
HOURLY = "lifecycle = 'session'\nidle_timeout = '1h'"
QUIET = "echo up; sleep 600"


@asynccontextmanager
async def looked_after(world: World, clock: Clock) -> AsyncIterator[Pinfold]:
    """A Pinfold that does nothing by itself, so that a test decides when it looks, on a clock of the test's own."""
    async with world.pinfold(supervise=False, now=clock) as pinfold:
        yield pinfold


async def quiet(pinfold: Pinfold) -> Session:
    session = await started(pinfold)
    await printed(pinfold, session.id, "up")
    return session


async def pass_time(pinfold: Pinfold, clock: Clock, *seconds: float) -> None:
    """Let time pass in steps, and look after each."""
    for step in seconds:
        clock.advance(step)
        await pinfold.sandboxes.lifecycle.look()


async def is_still_running(pinfold: Pinfold, session: Session) -> bool:
    return (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING


# --- after the end


@pytest.mark.parametrize(
    ("lifecycle", "after", "kept"),
    [
        pytest.param("oneshot", 0.0, False, id="oneshot goes at once"),
        pytest.param("session", 0.9 * HOUR, True, id="session stays until idle"),
        pytest.param("session", 1.1 * HOUR, False, id="session goes once idle"),
        pytest.param("longrunning", 100 * HOUR, True, id="longrunning stays"),
        pytest.param("persistent", 100 * HOUR, True, id="persistent stays"),
    ],
)
async def test_an_ended_sandbox_is_kept_as_long_as_its_lifecycle_says(world: World, clock, lifecycle, after, kept):
    timeout = "idle_timeout = '1h'" if lifecycle in ("session", "longrunning") else ""
    world.agent(script="echo done", sandbox=f"lifecycle = '{lifecycle}'\n{timeout}")
    async with looked_after(world, clock) as pinfold:
        session = await ran(pinfold)
        await pass_time(pinfold, clock, after)
        await until(pinfold, session.id, lambda found: bool(found.sandbox) == kept)
        assert await lines_of(pinfold, session.id) == ["done"]
        assert ("session.cleanup" in await logged(pinfold)) != kept


async def test_no_lifecycle_at_all_is_a_oneshot_whose_sandbox_is_gone_when_waiting_for_it_is_over(world: World):
    world.agent(script="true")
    async with world.pinfold(supervise=False) as pinfold:
        session = await ran(pinfold)
        assert (session.lifecycle, session.sandbox) == ("oneshot", "")


async def test_a_session_that_was_stopped_by_hand_is_kept_as_long_as_one_that_ended(world: World, clock):
    world.agent(script=QUIET, sandbox=HOURLY)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
        clock.advance(0.7 * HOUR)
        assert (await pinfold.sandboxes.stop(session.id)).sandbox
        await pass_time(pinfold, clock, 0.9 * HOUR)
        assert (await pinfold.sandboxes.session(session.id)).sandbox
        await pass_time(pinfold, clock, 0.2 * HOUR)
        assert not (await pinfold.sandboxes.session(session.id)).sandbox


# --- while it runs


@pytest.mark.parametrize(
    ("sandbox", "quarters"),
    [
        pytest.param("lifecycle = 'session'\nidle_timeout = '1h'", 0.25 * HOUR, id="session"),
        pytest.param("lifecycle = 'longrunning'\nidle_timeout = '1h'", 0.25 * HOUR, id="longrunning"),
        pytest.param("lifecycle = 'longrunning'", 0.5 * HOUR, id="longrunning has two hours by itself"),
        pytest.param("lifecycle = 'oneshot'", 2 * HOUR, id="oneshot has a net of eight hours"),
    ],
)
async def test_an_idle_sandbox_is_stopped_after_its_timeout_and_not_before(world: World, clock, sandbox, quarters):
    world.agent(script=QUIET, sandbox=sandbox)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
        await pass_time(pinfold, clock, quarters, quarters, quarters + 60, quarters - 120)
        assert await is_still_running(pinfold, session)
        await pass_time(pinfold, clock, 120)
        found = await ended(pinfold, session.id)
        assert found.state is SessionState.STOPPED
        assert [entry.actor for entry in await pinfold.activity.recent() if entry.verb == "session.stop"] == ["pinfold"]
        await pinfold.sandboxes.lifecycle.look()
        await until(pinfold, session.id, lambda now: bool(now.sandbox) == ("longrunning" in sandbox))


@pytest.mark.parametrize(
    "sandbox",
    [
        pytest.param("lifecycle = 'persistent'", id="persistent"),
        pytest.param("lifecycle = 'session'\nidle_timeout = 'never'", id="never idle"),
    ],
)
async def test_what_is_never_idle_is_never_stopped(world: World, clock, sandbox):
    world.agent(script=QUIET, sandbox=sandbox)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
        await pass_time(pinfold, clock, *[100 * HOUR] * 4)
        assert await is_still_running(pinfold, session)


@pytest.mark.usefixtures("wakeable")
async def test_output_keeps_a_sandbox_busy(world: World, clock):
    world.agent(script="exec 3<>wake; echo up; while read line <&3; do echo $line; done", sandbox=HOURLY)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
        for said in ("one", "two", "three"):
            await pass_time(pinfold, clock, 0.8 * HOUR)
            wake(world, said)
            await printed(pinfold, session.id, said)
            await pass_time(pinfold, clock, 0.3 * HOUR)
        assert await is_still_running(pinfold, session)


def wake(world: World, text: str) -> None:
    door = os.open(world.home.default_workspace("worker") / "wake", os.O_WRONLY | os.O_NONBLOCK)
    os.write(door, f"{text}\n".encode())
    os.close(door)


@pytest.fixture
def wakeable(home: Home) -> None:
    home.default_workspace("worker").mkdir(parents=True)
    os.mkfifo(home.default_workspace("worker") / "wake")


async def test_processor_time_keeps_a_sandbox_busy(world: World, clock):
    world.agent(script="echo up; while :; do :; done", sandbox=HOURLY)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
        await pass_time(pinfold, clock, 0.8 * HOUR, 0.3 * HOUR)
        assert await is_still_running(pinfold, session)
        active = await pinfold.sandboxes.session(session.id)
        assert active.active_at is not None
        assert clock() - active.active_at < 60e9


async def test_an_open_shell_keeps_a_sandbox_busy_whichever_pinfold_opened_it(world: World, clock):
    world.agent(script=QUIET, sandbox=HOURLY)
    async with looked_after(world, clock) as pinfold, world.pinfold(supervise=False) as other:
        session = await quiet(pinfold)
        shell = await other.sandboxes.shell(session.id, ("sh",), 80, 24)
        await pass_time(pinfold, clock, 0.8 * HOUR, 0.3 * HOUR)
        assert await is_still_running(pinfold, session)
        await shell.close()
        await pass_time(pinfold, clock, 0.8 * HOUR, 0.3 * HOUR)
        assert (await ended(pinfold, session.id)).state is SessionState.STOPPED


async def test_a_pinfold_that_has_just_started_does_not_stop_what_it_has_not_watched(world: World, clock):
    world.agent(script=QUIET, sandbox=HOURLY)
    async with looked_after(world, clock) as pinfold:
        session = await quiet(pinfold)
    clock.advance(50 * HOUR)
    async with looked_after(world, clock) as pinfold:
        await pass_time(pinfold, clock, 0, 60)
        assert await is_still_running(pinfold, session)
        await pass_time(pinfold, clock, 0.25 * HOUR)
        assert (await ended(pinfold, session.id)).state is SessionState.STOPPED


# --- faults


class Stubborn(LocalEngine):
    """A local engine that will not remove anything for a while."""

    times = 2

    async def remove(self, sandbox: str) -> None:
        if self.times:
            self.times -= 1
            raise EngineError("the sandbox is stuck", why="for this test")
        await super().remove(sandbox)


async def test_a_sandbox_that_cannot_be_removed_stays_listed_with_the_reason_and_is_tried_again(world: World, clock):
    world.agent(script="exit 3")
    engine = Stubborn(world.home, world.home.identity(), world.env)
    async with world.pinfold(supervise=False, now=clock, engines={"local": engine}) as pinfold:
        session = await ran(pinfold)

        async def is_told() -> bool:
            return "could not be removed" in (await pinfold.sandboxes.session(session.id)).detail

        await eventually(is_told)
        found = await pinfold.sandboxes.session(session.id)
        assert found.sandbox
        assert found.detail.startswith("status 3; ")
        assert "for this test" in found.detail
        await pass_time(pinfold, clock, 1)
        assert engine.times == 1  # not yet
        await pass_time(pinfold, clock, 6, 11)
        found = await pinfold.sandboxes.session(session.id)
        assert (found.sandbox, found.detail) == ("", "status 3")
        assert [step.state for step in await steps_named(pinfold, session.id, "cleanup")] == ["failed", "done"]
