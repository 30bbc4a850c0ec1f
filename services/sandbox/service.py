"""The sandboxes of a home: everything an operator can do with sessions."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing, suppress

from services.activity import ActivityLog, Events
from services.agents import Agents
from services.errors import EngineError, EngineUnavailable, PinfoldError, SandboxGone, SessionError, SessionRefused
from services.home import BlockingCalls, Database, Home
from services.output import SpoolReader
from services.sandbox import transitions
from services.sandbox.admission import Admission, HeldBy, nothing
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import Engine, EngineStatus, Shell, Usage
from services.sandbox.following import Followers
from services.sandbox.letting_go import end_start, within
from services.sandbox.lifecycle import Lifecycle
from services.sandbox.model import Session, StartRequest, Step
from services.sandbox.planning import Planner
from services.sandbox.recovery import Orphan, Recovery
from services.sandbox.refused_hosts import RefusedHosts
from services.sandbox.roster import EngineRoster
from services.sandbox.rows import Changes
from services.sandbox.runners import RunnerStatus, runners
from services.sandbox.session_files import SessionFiles, take
from services.sandbox.session_ids import NewId, new_session_id
from services.sandbox.shells import CountedShell, shell_lock
from services.sandbox.starting import Starter, StartProgress, Tell
from services.sandbox.stopping import Stopper
from services.sandbox.store import SessionStore
from services.sandbox.supervisor import Supervisor
from services.sandbox.tools import Supply
from services.sandbox.unforeseen import Unforeseen

_CLOSING_SECONDS = 1.5
_HANDS_SECONDS = 5.0
_TAKE_UP_SECONDS = 2.0


class Sandboxes:
    """Starts, follows, stops and removes sessions; finds those again that other Pinfolds started.

    Sessions are named by their id, a unique start of it, its last three characters, or an agent's alias, which means
    that agent's newest.

    Args:
        engines: By name, the preferred first.
        now: The clock, nanoseconds since 1970.
        new_id: Makes session ids.
        env: Pinfold's own environment: secrets and passed-through variables are read there when a session starts.
        held_by: Says what is being done to an agent that no session may start meanwhile.
    """

    def __init__(
        self,
        home: Home,
        database: Database,
        activity: ActivityLog,
        events: Events,
        agents: Agents,
        engines: Mapping[str, Engine],
        calls: BlockingCalls,
        now: Callable[[], int] = time.time_ns,
        new_id: NewId = new_session_id,
        env: Mapping[str, str] = os.environ,
        held_by: HeldBy = nothing,
    ) -> None:
        self._home = home
        self._activity = activity
        self._calls = calls
        self._now = now
        self._starts: set[asyncio.Task[Session]] = set()
        self._store = SessionStore(database, activity, events, now)
        self._roster = EngineRoster(engines, events)
        refused = RefusedHosts(database, activity, events, self._roster)
        self._cleanup = Cleanup(home, self._store, self._roster, refused, calls, now)
        self._unforeseen = Unforeseen()
        self._followers = Followers(
            home, self._store, self._roster, self._cleanup, calls, now, self._after_end, self._unforeseen
        )
        self._stopper = Stopper(home, self._store, self._roster, self._cleanup, self._followers, now, self._unforeseen)
        self.lifecycle = Lifecycle(home, self._store, self._roster, self._cleanup, self._stopper, calls, now)
        self._recovery = Recovery(home, self._store, self._roster, self._cleanup, self._followers, self._stopper)
        self._planner = Planner(home, agents, self._roster, calls, env)
        tools = Supply(home, database, calls, now, env)
        admission = Admission(home, calls, held_by)
        self._starter = Starter(home, self._store, self._cleanup, tools, calls, now, new_id, admission)
        self._supervisor = Supervisor(
            database, self._store, activity, events, self._roster, self._cleanup, self._recovery, self.lifecycle, tools
        )

    # --- engines and runners

    def engines(self) -> tuple[EngineStatus, ...]:
        """What each engine said of itself last, in order of preference."""
        return self._roster.statuses()

    async def check_engines(self) -> tuple[EngineStatus, ...]:
        """Ask every engine now; takes some seconds when one does not answer."""
        return await self._roster.check_all()

    def runners(self) -> tuple[RunnerStatus, ...]:
        """Every runner, and why one cannot be chosen."""
        return runners()

    # --- starting

    async def start(self, request: StartRequest) -> AsyncGenerator[StartProgress, None]:
        """Start a session, telling how far it has come; the last item shows it running.

        Leaving the iteration early cancels the start: what was made is removed and the session recorded as stopped.

        Raises:
            AgentNotFound: No agent has this alias.
            SessionRefused: Something forbids it; nothing was recorded but the activity entry.
            PinfoldError: It failed; the session is recorded as failed with the reason.
        """
        told: asyncio.Queue[StartProgress | None] = asyncio.Queue()
        task = asyncio.create_task(self._start(request, told.put_nowait), name=f"start {request.agent}")
        self._starts.add(task)
        task.add_done_callback(lambda _: told.put_nowait(None))
        task.add_done_callback(self._starts.discard)
        try:
            while (progress := await told.get()) is not None:
                yield progress
            if task.cancelled():
                raise SessionError("the start was cancelled", why="Pinfold is closing")
            yield StartProgress(task.result(), "running")
        finally:
            await end_start(task)

    async def preview(self, request: StartRequest) -> Session:
        """Say what a start would record, mounts and limits included, without starting anything; the id is empty.

        Raises:
            AgentNotFound: No agent has this alias.
            SessionRefused: Something forbids it.
            EngineUnavailable: The engine asked for does not exist.
        """
        plan = await self._planner.plan(request)
        return plan.session("", "", SessionFiles.of(self._home, "new"), self._now())

    async def _start(self, request: StartRequest, tell: Tell) -> Session:
        try:
            plan = await self._planner.plan(request)
        except PinfoldError as error:
            await self._activity.record("session.start", agent=request.agent, outcome="refused", detail=str(error))
            raise
        return await self._starter.start(plan, tell)

    # --- looking

    async def sessions(self) -> list[Session]:
        """All sessions, newest first."""
        return await self._store.all()

    async def session(self, session: str) -> Session:
        """Find one session by any of its names.

        Raises:
            SessionNotFound: None or several fit.
        """
        return await self._store.resolve(session)

    async def steps(self, session: str) -> list[Step]:
        """The steps of a session, oldest first."""
        return await self._store.steps((await self._store.resolve(session)).id)

    async def changed_since(self, revision: int) -> Changes:
        """What changed after a revision; 0 gives everything."""
        return await self._store.changed_since(revision)

    async def output(self, session: str) -> SpoolReader:
        """Open a session's output for reading; the caller closes it."""
        found = await self._store.resolve(session)
        return await self._calls.run(SpoolReader.open, SessionFiles.of(self._home, found.id).output)

    async def usage(self, session: str) -> AsyncGenerator[Usage, None]:
        """Yield what a session's sandbox uses about once a second; ends when it does not run (any more)."""
        found = await self._store.resolve(session)
        if found.state not in transitions.IN_SANDBOX or not found.sandbox:
            return
        engine = await self._roster.engine_of(found)
        try:
            async with aclosing(engine.usage(found.sandbox)) as usage:
                async for used in usage:
                    yield used
        except SandboxGone:
            return

    async def wait(self, session: str) -> Session:
        """Wait until a session has ended, its output is complete, and its sandbox removed if it is to be at once.

        Raises:
            SessionNotFound: It was removed meanwhile.
        """
        found = await self._store.resolve(session)
        while True:
            await self._recovery.take_up([await self._store.get(found.id)])
            ended = await self._store.until(found.id, lambda now: now.state.ended, within=_TAKE_UP_SECONDS)
            if ended is not None:
                await self._followers.cleaned_up(found.id)
                return await self._store.get(found.id)

    # --- acting

    async def interrupt(self, session: str) -> None:
        """Send an interrupt to the main process, which may handle it and go on.

        Raises:
            SessionRefused: It is not running.
        """
        await self._stopper.interrupt(await self._store.resolve(session))

    async def stop(self, session: str) -> Session:
        """Interrupt, then TERM, then KILL, each after a grace; a session that is being started is cancelled.

        Raises:
            SessionError: It would not end, or its engine is away.
        """
        return await self._stopper.stop(await self._store.resolve(session))

    async def kill(self, session: str) -> Session:
        """End a session at once, also one that is being stopped.

        Raises:
            SessionError: It would not end, or its engine is away.
        """
        return await self._stopper.kill(await self._store.resolve(session))

    async def remove(self, session: str, *, force: bool = False) -> None:
        """Remove a session with its sandbox, record and output.

        Args:
            session: Its name.
            force: Kill it first when it is live; and when its engine is away, leave the sandbox behind, which is an
                orphan once the engine is back.

        Raises:
            SessionRefused: It is live, or another Pinfold has its hands on it.
            EngineError: Its sandbox could not be removed; the session is kept.
        """
        found = await self._store.resolve(session)
        if found.state.live and not force:
            raise SessionRefused(f"session {found.id} is {found.state.value}", fix="Stop it first, or use force.")
        if found.state.live:
            with suppress(SessionError, EngineError):  # the reason is told when the sandbox cannot be removed either
                await self._stopper.kill(found)
        hands = SessionFiles.of(self._home, found.id).hands()
        if not await take(hands, within=_HANDS_SECONDS):
            raise SessionRefused(f"session {found.id} cannot be removed now", why="another Pinfold is at its sandbox")
        try:
            await self._cleanup.forget(await self._store.get(found.id), leave_behind=force)
        finally:
            hands.release()
        self._followers.drop(found.id)

    async def shell(self, session: str, command: tuple[str, ...], columns: int, rows: int) -> Shell:
        """Open an interactive terminal in a running sandbox, which counts as busy until it is closed.

        Args:
            session: Its name.
            command: argv; empty picks the best shell there is.
            columns: Width of the terminal in cells.
            rows: Height of the terminal in cells.

        Raises:
            SessionRefused: The session is not running.
        """
        found = await self._store.resolve(session)
        if found.state not in transitions.IN_SANDBOX or transitions.never_ran(found):
            raise SessionRefused(f"no shell can be opened in session {found.id}", why=f"it is {found.state.value}")
        engine = await self._roster.engine_of(found)
        lock = await self._calls.run(shell_lock, SessionFiles.of(self._home, found.id))
        try:
            shell = await engine.shell(found.sandbox, command, columns, rows)
        except BaseException:
            lock.release()
            raise
        await self._activity.record("session.shell", agent=found.agent, session=found.id)
        return CountedShell(shell, lock)

    async def gone(self, sessions: Iterable[str]) -> frozenset[str]:
        """Of some sessions, by their ids, those that have no sandbox any more, though no record may say so yet."""
        return await self._recovery.gone(sessions)

    # --- orphans

    def orphans(self) -> tuple[Orphan, ...]:
        """Sandboxes with this home's label and no record, as last seen."""
        return self._recovery.orphans()

    async def find_orphans(self) -> tuple[Orphan, ...]:
        """Compare every engine that answers with the records now, and name the orphans."""
        for status in await self._roster.check_all():
            try:
                if status.usable:
                    await self._recovery.compare(self._roster.get(status.name))
            except EngineUnavailable as error:
                self._roster.lost(status.name, str(error))
        return self.orphans()

    async def remove_orphan(self, orphan: Orphan) -> None:
        """Remove a sandbox that no session knows.

        Raises:
            EngineError: It could not be removed.
        """
        await self._roster.get(orphan.engine).remove(orphan.sandbox)
        self._recovery.removed(orphan)
        await self._activity.record(
            "session.remove", agent=orphan.agent, session=orphan.session, detail=f"orphan on {orphan.engine}"
        )

    # --- in the background

    async def supervise(self) -> None:
        """Until cancelled: find sessions again, follow them, watch engines, stop what is idle, clean up."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._supervisor.run())
            group.create_task(self._unforeseen.raised())

    def trouble(self) -> tuple[str, ...]:
        """What keeps supervision from its work now; empty when all is well."""
        return self._supervisor.trouble()

    async def close(self) -> None:
        """Let go of everything within moments; sessions go on, starts under way are cancelled."""
        starts = [end_start(task) for task in self._starts]
        await within(_CLOSING_SECONDS, self._stopper.close(), *starts)
        await within(_CLOSING_SECONDS, self._followers.close())
        await within(_CLOSING_SECONDS, self._roster.close())

    async def _after_end(self, session: Session) -> None:
        await self.lifecycle.after_end(session)
