"""A session's start, step by step, from a plan to a running main process.

Whoever starts a session holds its `hands` lock until it runs or has failed. A session found being started whose lock
is free was left by a Pinfold that died; recovery gives it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import msgspec

from services.errors import EngineUnavailable, PinfoldError, SessionError
from services.home import BlockingCalls, FileLock, Home, make_directory
from services.sandbox import transitions
from services.sandbox.admission import Admission
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import PullProgress
from services.sandbox.model import Session, SessionState
from services.sandbox.once import OnceMarkers
from services.sandbox.planning import Plan
from services.sandbox.prepare import make_shared, open_gate, run_step, step_name
from services.sandbox.roster import has_images
from services.sandbox.rows import StepChange
from services.sandbox.session_files import SessionFiles
from services.sandbox.session_ids import NewId
from services.sandbox.store import Decide, SessionStore
from services.sandbox.tools import Supply

_ID_TRIES = 100
_LOOK_SECONDS = 0.25
_LAST_CALL_SECONDS = 10.0
_LOST_ANSWERS = 3


class StartProgress(msgspec.Struct, frozen=True):
    """How far a start has come.

    Attributes:
        session: As recorded now.
        note: What is being done, for people.
        pull: How far the image has come, while it is pulled.
    """

    session: Session
    note: str = ""
    pull: PullProgress | None = None


Tell = Callable[[StartProgress], None]


class _Cancelled(Exception):
    """The operator stopped the session from elsewhere while it was started."""


class Starter:
    """Carries out plans."""

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        cleanup: Cleanup,
        tools: Supply,
        calls: BlockingCalls,
        now: Callable[[], int],
        new_id: NewId,
        admission: Admission,
    ) -> None:
        self._home = home
        self._admission = admission
        self._store = store
        self._cleanup = cleanup
        self._calls = calls
        self._now = now
        self._new_id = new_id
        self._once = OnceMarkers(home)
        self._tools = tools

    async def start(self, plan: Plan, tell: Tell) -> Session:
        """Bring a session to life and return it running.

        Cancelling it removes what was made and records the session as stopped.

        Raises:
            PinfoldError: Something failed; the session is recorded as failed and its sandbox removed.
        """
        session_id, files, hands = await self._make_directory()
        try:
            async with self._admission.of(plan.agent):
                session = await self._record(plan, session_id, files)
            tell(StartProgress(session, plan.note))
            return await self._unless_stopped(session_id, self._carry_out(plan, session, files, tell))
        except _Cancelled as error:
            await self._cleanup.give_up(session_id, "cancelled before it ran", cancelled=True)
            raise SessionError(f"session {session_id} was stopped before it ran") from error
        except asyncio.CancelledError:
            await self._cleanup.give_up(session_id, "cancelled before it ran", cancelled=True)
            raise
        except PinfoldError as error:
            await self._cleanup.give_up(session_id, str(error), cancelled=False)
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            await self._cleanup.give_up(session_id, reason, cancelled=False)
            raise SessionError(f"{plan.agent.alias} could not be started", why=reason) from error
        finally:
            hands.release()

    async def _make_directory(self) -> tuple[str, SessionFiles, FileLock]:
        making = asyncio.ensure_future(self._calls.run(self._claim_directory))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(_release_unwanted)
            raise

    def _claim_directory(self) -> tuple[str, SessionFiles, FileLock]:
        make_directory(self._home.sessions_dir)
        for _ in range(_ID_TRIES):
            session = self._new_id()
            files = SessionFiles.of(self._home, session)
            try:
                files.directory.mkdir(mode=0o700)
            except FileExistsError:
                continue
            except OSError as error:
                raise SessionError(f"cannot make {files.directory}", why=error.strerror or str(error)) from error
            hands = files.hands()
            if not hands.try_acquire():
                continue
            make_shared(files)
            return session, files, hands
        raise SessionError("no id is free for a new session", fix="Try again.")

    async def _record(self, plan: Plan, session: str, files: SessionFiles) -> Session:
        home_id = await self._calls.run(self._home.identity)
        draft = plan.session(session, home_id, files, self._now())
        return await self._store.insert(draft, StepChange("prepare", "running", plan.note))

    async def _unless_stopped(self, session: str, work: Coroutine[Any, Any, Session]) -> Session:
        """Do the work until it is done, or somebody stops the session from wherever they are."""
        task = asyncio.create_task(work)
        try:
            while True:
                done, _ = await asyncio.wait({task}, timeout=_LOOK_SECONDS)
                if done:
                    return task.result()
                if (await self._store.get(session)).state is SessionState.STOPPING:
                    raise _Cancelled
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError, PinfoldError, _Cancelled):
                    await task

    async def _carry_out(self, plan: Plan, session: Session, files: SessionFiles, tell: Tell) -> Session:
        engine = plan.engine
        if plan.image and not await engine.has_image(plan.image):
            await self._pull(plan, session, tell)
        await self._give_tools(plan, session, files, tell)
        session = await self._move(session, transitions.creating(plan.status.identity))
        tell(StartProgress(session, "making the sandbox"))
        sandbox = await self._create(plan, session)
        session = await self._move(session, transitions.starting(sandbox))
        tell(StartProgress(session, "starting"))
        await engine.start(sandbox)
        if plan.prepare:
            await self._prepare(plan, session, sandbox, tell)
            await self._calls.run(open_gate, files)
        session = await self._move(session, transitions.running(self._now(), plan.note))
        return session

    async def _give_tools(self, plan: Plan, session: Session, files: SessionFiles, tell: Tell) -> None:
        delivery, config = plan.delivery(files), plan.agent.config
        if delivery is None or config is None:
            return
        tell(StartProgress(session, "making its tools ready"))
        owner = await self._calls.run(_owner_of, session.workspace) if has_images(plan.status.name) else None
        await self._tools.give(session, delivery, config, owner)

    async def _move(self, session: Session, decide: Decide) -> Session:
        moved = await self._store.change(session.id, decide)
        if moved is None:
            raise _Cancelled
        return moved

    async def _pull(self, plan: Plan, session: Session, tell: Tell) -> None:
        session = await self._move(session, transitions.pulling())
        tell(StartProgress(session, f"pulling {plan.image}"))
        async with aclosing(plan.engine.pull(plan.image)) as progress:
            async for step in progress:
                tell(StartProgress(session, f"pulling {plan.image}", step))

    async def _create(self, plan: Plan, session: Session) -> str:
        """Make the sandbox, asking again when the answer is lost; a cancelled call is waited for, to be undone."""
        for _ in range(_LOST_ANSWERS - 1):
            with suppress(EngineUnavailable):
                return await self._create_once(plan, session)
        return await self._create_once(plan, session)

    async def _create_once(self, plan: Plan, session: Session) -> str:
        call = asyncio.ensure_future(plan.engine.create(session.spec, plan.secrets))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            await asyncio.wait({call}, timeout=_LAST_CALL_SECONDS)
            raise

    async def _prepare(self, plan: Plan, session: Session, sandbox: str, tell: Tell) -> None:
        for number, step in enumerate(plan.prepare, start=1):
            note = f"preparing {number} of {len(plan.prepare)}: {step_name(step)}"
            if await self._calls.run(self._once.done, step, session.spec):
                skipped = StepChange("prepare", "done", f"{step_name(step)}: done before")
                session = await self._move(session, transitions.progress(skipped, note))
                continue
            session = await self._move(session, transitions.progress(StepChange("prepare", "running", note), note))
            tell(StartProgress(session, note))
            try:
                ignored = await run_step(plan.engine, sandbox, step)
            except PinfoldError as error:
                failed = StepChange("prepare", "failed", f"{step_name(step)}: {error.why or error}")
                await self._store.change(session.id, transitions.progress(failed, str(error)))
                raise
            if ignored:
                done = StepChange("prepare", "failed", f"{step_name(step)}: {ignored}; ignored")
            else:
                done = StepChange("prepare", "done", step_name(step))
                await self._calls.run(self._once.remember, step, session.spec)
            session = await self._move(session, transitions.progress(done, note))


def _owner_of(workspace: str) -> tuple[int, int]:
    found = Path(workspace).stat()
    return found.st_uid, found.st_gid


def _release_unwanted(making: asyncio.Future[tuple[str, SessionFiles, FileLock]]) -> None:
    if not making.cancelled() and making.exception() is None:
        making.result()[2].release()
