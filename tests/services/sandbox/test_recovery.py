from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from services.activity import ActivityLog, Events, SessionChanged
from services.errors import EngineUnavailable, SessionError
from services.home import Database, Home
from services.pinfold import Pinfold
from services.sandbox import EngineStatus, SandboxSpec, SandboxState, Session, SessionState
from services.sandbox.engines.local import LocalEngine
from services.sandbox.rows import StepChange
from services.sandbox.store import SessionStore
from tests.services.sandbox.records import SPEC, session
from tests.support.sessions import (
    WAIT,
    World,
    ended,
    eventually,
    lines_of,
    logged,
    printed,
    ran,
    started,
    until,
)

FOREVER = "echo up; sleep 600"
KEPT = "lifecycle = 'persistent'"


@asynccontextmanager
async def engine_of(world: World) -> AsyncIterator[LocalEngine]:
    """The local engine, used behind Pinfold's back."""
    engine = LocalEngine(world.home, world.home.identity(), world.env)
    yield engine
    await engine.close()


@asynccontextmanager
async def store_of(world: World) -> AsyncIterator[SessionStore]:
    """The records, written behind Pinfold's back."""
    async with Database(world.home.database_file) as database:
        events = Events()
        yield SessionStore(database, ActivityLog(database, events), events)


def spec_for(world: World, name: str, *command: str) -> SandboxSpec:
    return replace(
        SPEC,
        session=name,
        home=world.home.identity(),
        command=command,
        workspace=str(world.home.default_workspace("worker")),
        unconfined=True,
    )


async def test_a_session_outlives_its_pinfold_and_is_found_again_with_all_its_output(world: World):
    world.agent(script="echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 3")
    async with world.pinfold() as pinfold:
        first = await started(pinfold)
        await printed(pinfold, first.id, "one")
    async with world.pinfold() as pinfold:
        assert (await pinfold.sandboxes.session(first.id)).state is SessionState.RUNNING
        (world.home.default_workspace("worker") / "go").touch()
        found = await ended(pinfold, first.id)
        assert (found.state, found.exit_code) == (SessionState.FAILED, 3)
        assert await lines_of(pinfold, first.id) == ["one", "two"]


async def test_an_end_that_no_pinfold_saw_is_recorded_by_the_next(world: World):
    world.agent(script="echo one; exit 3")
    async with world.pinfold(supervise=False) as pinfold:
        session = await started(pinfold)
    async with engine_of(world) as engine:

        async def has_ended() -> bool:
            return (await engine.inspect(session.sandbox)).status == "exited"

        await eventually(has_ended)
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, session.id)
        assert (found.state, found.exit_code) == (SessionState.FAILED, 3)
        assert await lines_of(pinfold, session.id) == ["one"]
        assert (await logged(pinfold, session.id))[:2] == ["session.start", "session.end failed"]


async def test_a_start_whose_pinfold_died_is_given_up_by_the_next(world: World):
    world.agent(script=FOREVER)
    async with store_of(world) as store:
        await store.insert(session(id="left", engine="local"), StepChange("prepare", "running"))
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, "left")
        assert (found.state, found.detail) == (SessionState.FAILED, "Pinfold ended while starting it")
        steps = await pinfold.sandboxes.steps("left")
        assert [(step.state, step.detail) for step in steps] == [("failed", "Pinfold ended while starting it")]
        assert await logged(pinfold) == ["session.start failed"]


async def test_a_start_that_another_pinfold_is_at_is_left_alone(world: World):
    world.agent(script="true", sandbox='prepare = [{ cmd = ["sh", "-c", "touch begun; sleep 2"] }]')
    async with world.pinfold(supervise=False) as starting, world.pinfold() as watching:
        session = await started(starting)
        assert (await ended(watching, session.id)).state is SessionState.EXITED


async def test_a_sandbox_that_vanished_makes_its_session_lost_and_its_output_complete(world: World):
    world.agent(script=FOREVER, sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
    async with engine_of(world) as engine:
        await engine.remove(session.sandbox)
    async with world.pinfold() as pinfold:
        found = await ended(pinfold, session.id)
        assert (found.state, found.sandbox) == (SessionState.LOST, "")
        assert (await logged(pinfold))[-1] == "session.lost failed"
        reader = await pinfold.sandboxes.output(session.id)
        assert reader.complete
        reader.close()


async def test_a_kept_sandbox_that_was_removed_by_hand_is_forgotten(world: World):
    world.agent(script="true", sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await ran(pinfold)
    async with engine_of(world) as engine:
        await engine.remove(session.sandbox)
    async with world.pinfold() as pinfold:
        found = await until(pinfold, session.id, lambda now: not now.sandbox)
        assert found.state is SessionState.EXITED


async def test_a_sandbox_nobody_recorded_is_an_orphan_until_it_is_removed_on_request(world: World):
    world.agent(script="true")
    async with engine_of(world) as engine:
        sandbox = await engine.create(spec_for(world, "stray", "sleep", "600"), {})
        await engine.start(sandbox)
    async with world.pinfold() as pinfold:

        async def is_shown() -> bool:
            return bool(pinfold.sandboxes.orphans())

        await eventually(is_shown)
        (orphan,) = pinfold.sandboxes.orphans()
        assert (orphan.engine, orphan.session, orphan.agent, orphan.status) == ("local", "stray", "worker", "running")
        await pinfold.sandboxes.remove_orphan(orphan)
        assert pinfold.sandboxes.orphans() == ()
        assert await pinfold.sandboxes.find_orphans() == ()
        assert await logged(pinfold) == ["session.remove"]


async def test_a_sandbox_whose_session_ended_without_knowing_of_it_is_removed(world: World):
    world.agent(script="true")
    async with engine_of(world) as engine:
        await engine.start(await engine.create(spec_for(world, "half", "sleep", "600"), {}))
    async with store_of(world) as store:
        failed = session(id="half", engine="local", state=SessionState.FAILED)
        await store.insert(failed, StepChange("create", "failed"))
    async with world.pinfold() as pinfold, engine_of(world) as engine:

        async def is_gone() -> bool:
            return await engine.list() == []

        await eventually(is_gone)
        assert pinfold.sandboxes.orphans() == ()


async def test_sessions_of_another_engine_at_the_same_place_keep_their_state(world: World):
    world.agent(script="true")
    async with store_of(world) as store:
        elsewhere = session(
            id="far", engine="local", state=SessionState.RUNNING, sandbox="far", started_at=5, engine_id="another"
        )
        await store.insert(elsewhere, StepChange("run", "running"))
    async with world.pinfold() as pinfold:
        await ran(pinfold)
        assert (await pinfold.sandboxes.session("far")).state is SessionState.RUNNING
        with pytest.raises(SessionError, match="another local"):
            await pinfold.sandboxes.stop("far")
        await pinfold.sandboxes.remove("far", force=True)
        entry = (await pinfold.activity.recent())[-1]
        assert (entry.verb, "left behind" in entry.detail) == ("session.remove", True)


class Unreliable(LocalEngine):
    """A local engine that can be made not to answer."""

    away = False

    def _check(self) -> None:
        if self.away:
            raise EngineUnavailable("the engine does not answer", why="for this test")

    async def status(self) -> EngineStatus:
        return replace(await super().status(), usable=not self.away, problem="away" if self.away else "")

    async def list(self) -> list[SandboxState]:
        self._check()
        return await super().list()

    async def inspect(self, sandbox: str) -> SandboxState:
        self._check()
        return await super().inspect(sandbox)


async def test_an_engine_that_is_away_proves_nothing_about_its_sessions(world: World):
    world.agent(script="echo up; while [ ! -e go ]; do sleep 0.05; done", sandbox=KEPT)
    engine = Unreliable(world.home, world.home.identity(), world.env)
    async with world.pinfold(engines={"local": engine}) as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
        engine.away = True
        await pinfold.sandboxes.check_engines()
        assert [status.problem for status in pinfold.sandboxes.engines()] == ["away"]
        (world.home.default_workspace("worker") / "go").touch()
        with_time_to_err = asyncio.create_task(pinfold.sandboxes.wait(session.id))
        await asyncio.wait({with_time_to_err}, timeout=1.5)
        assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING
        engine.away = False
        async with asyncio.timeout(WAIT):
            assert (await with_time_to_err).state is SessionState.EXITED


async def test_what_one_pinfold_does_the_other_is_told(world: World):
    world.agent(script="true")
    async with world.pinfold() as acting, world.pinfold() as watching:
        heard: set[str] = set()

        async def listen() -> None:
            with watching.events.listen() as listener:
                async for batch in listener.batches():
                    heard.update(event.session for event in batch if isinstance(event, SessionChanged))

        listening = asyncio.create_task(listen())
        session = await ran(acting)

        async def is_told() -> bool:
            return session.id in heard

        await eventually(is_told)
        await acting.sandboxes.remove(session.id)
        heard.clear()
        await eventually(is_told)
        listening.cancel()


async def test_two_pinfolds_record_one_end_and_one_cleanup(world: World):
    world.agent(script="echo done")
    async with world.pinfold() as here, world.pinfold() as there:
        sessions = [await started(pinfold) for pinfold in (here, there) * 2]
        for session in sessions:
            await ended(there, session.id)
            await until(there, session.id, lambda found: not found.sandbox)
            assert await logged(here, session.id) == ["session.start", "session.end", "session.cleanup"]
            assert await lines_of(there, session.id) == ["done"]


async def test_directories_without_a_session_are_swept_but_output_never_is(world: World):
    world.agent(script="echo keep me")
    async with world.pinfold() as pinfold:
        kept, removed = await ran(pinfold), await ran(pinfold)
        await pinfold.sandboxes.remove(removed.id)
    unknown = world.home.session_dir("unknown")
    empty = world.home.session_dir("empty")
    for directory in (unknown / "output", empty / "shared", world.home.session_dir(removed.id) / "output"):
        directory.mkdir(parents=True)
    (empty / "hands.lock").touch()
    (unknown / "output" / "data").write_text("something", encoding="utf-8")
    async with world.pinfold() as pinfold:

        async def is_swept() -> bool:
            return not empty.exists() and not world.home.session_dir(removed.id).exists()

        await eventually(is_swept)
        assert await lines_of(pinfold, kept.id) == ["keep me"]
    assert (unknown / "output" / "data").exists()


async def test_a_home_that_is_not_there_opens_empty(world: World, tmp_path):
    async with Pinfold.open(Home(tmp_path / "nowhere"), env=world.env) as pinfold:
        assert pinfold.agents.all() == ()
        assert await pinfold.sandboxes.sessions() == []
        assert not pinfold.home.exists


async def test_sessions_are_listed_for_everyone(world: World):
    world.agent(script="true")
    async with world.pinfold() as here, world.pinfold(supervise=False) as there:
        session: Session = await ran(here)
        assert [found.id for found in await there.sandboxes.sessions()] == [session.id]
        assert (await there.sandboxes.session("worker")).id == session.id
