"""Engines and records compared: what each knows that the other does not.

| the record says | the engine says | then |
| --- | --- | --- |
| being started, nobody at it | anything | given up: sandbox removed, session failed |
| running, stopping | knows it | followed to its end |
| stopping, nobody at it | knows it | the stop goes on |
| running, stopping | does not know it | lost, as its follower finds |
| ended, its sandbox kept | does not know it | its sandbox is forgotten |
| ended, no sandbox | has one of this session | noted, and removed by its lifecycle |
| nothing | has one with this home's label | an orphan: shown, never touched unasked |
| ended, nothing | has a proxy and no sandbox of this session | the proxy is removed |

An engine that does not answer proves nothing, and neither does another engine at the same address: sessions keep their
state then.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from services.errors import EngineError, SandboxGone
from services.home import Home
from services.sandbox import transitions, upkeep
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import Engine, SandboxState
from services.sandbox.following import Followers
from services.sandbox.model import Session, SessionState
from services.sandbox.roster import EngineRoster, is_foreign
from services.sandbox.session_files import SessionFiles
from services.sandbox.stopping import Stopper
from services.sandbox.store import SessionStore

_ENDED_WITH_PINFOLD = "Pinfold ended while starting it"


class Orphan(msgspec.Struct, frozen=True):
    """A sandbox with this home's label and no record.

    Attributes:
        sandbox: The engine's id.
        session, agent: From its labels; hostile until shown by `safe`.
        status: created, running or exited.
    """

    engine: str
    sandbox: str
    session: str
    agent: str
    status: str


class Recovery:
    """Finds sessions again and puts right what a killed Pinfold left."""

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        roster: EngineRoster,
        cleanup: Cleanup,
        followers: Followers,
        stopper: Stopper,
    ) -> None:
        self._home = home
        self._store = store
        self._roster = roster
        self._cleanup = cleanup
        self._followers = followers
        self._stopper = stopper
        self._orphans: dict[str, tuple[Orphan, ...]] = {}

    def orphans(self) -> tuple[Orphan, ...]:
        """Orphans found by the last comparison with each engine."""
        return tuple(orphan for found in self._orphans.values() for orphan in found)

    async def take_up(self, sessions: Iterable[Session]) -> None:
        """Follow what runs, go on with stops, give up starts nobody is at; needs no engine to answer."""
        for session in sessions:
            if session.state in transitions.BEING_STARTED:
                await self._give_up_if_left(session)
            elif session.state is SessionState.STOPPING and transitions.never_ran(session):
                await self._stopper.resume(session)
            elif session.state in transitions.IN_SANDBOX:
                self._followers.ensure(session.id)
                await self._stopper.resume(session)

    def let_go(self, sessions: Iterable[str]) -> None:
        """Stop following sessions that were removed, by whatever process."""
        for session in sessions:
            self._followers.drop(session)

    async def compare(self, engine: Engine) -> None:
        """Compare one engine with the records and act by the table above.

        Raises:
            EngineUnavailable: It does not answer; nothing was concluded.
        """
        sandboxes = await engine.list()  # before the records are read: whatever it shows was recorded first
        accompanied = await engine.accompanied()
        self._followers.look_again()
        found = {sandbox.session: sandbox for sandbox in sandboxes}
        sessions = {session.id: session for session in await self._store.current()}
        sessions |= await self._store.by_id((found.keys() | accompanied) - sessions.keys())
        status = self._roster.status(engine.name)
        for session in sessions.values():
            if session.engine == engine.name and session.state.ended and not is_foreign(session, status):
                await self._settle(session, found.get(session.id), engine)
        for left in accompanied - found.keys():
            await self._dismiss_if_left(left, sessions.get(left), engine)
        self._orphans[engine.name] = tuple(
            Orphan(engine.name, sandbox.id, sandbox.session, sandbox.agent, sandbox.status)
            for sandbox in sandboxes
            if sandbox.session not in sessions
        )

    async def gone(self, sessions: Iterable[str]) -> frozenset[str]:
        """Of some sessions, those whose sandboxes have ended, and those whose start nobody is at; changes no record.

        What ran on an engine that does not answer is not among them.
        """
        found = await self._store.by_id(sessions)
        return frozenset([session.id for session in found.values() if await self._is_gone(session)])

    def removed(self, orphan: Orphan) -> None:
        """Drop an orphan that was removed from the list."""
        kept = tuple(found for found in self._orphans.get(orphan.engine, ()) if found.sandbox != orphan.sandbox)
        self._orphans[orphan.engine] = kept

    async def _settle(self, session: Session, sandbox: SandboxState | None, engine: Engine) -> None:
        if sandbox is not None and not session.sandbox:
            if await _knows(engine, sandbox.id):
                await self._store.change(session.id, upkeep.left_over(sandbox.id))
        elif sandbox is None and session.sandbox and not await _knows(engine, session.sandbox):
            await self._store.change(session.id, upkeep.cleaned(session.sandbox, "it was gone already"))

    async def _dismiss_if_left(self, session_id: str, session: Session | None, engine: Engine) -> None:
        """Remove what accompanied a sandbox that is gone, or never came to be."""
        if session is None:
            await engine.dismiss(session_id)
        elif session.state.ended or (not transitions.never_ran(session) and not await _knows(engine, session.sandbox)):
            await self._cleanup.dismiss(session, engine)

    async def _is_gone(self, session: Session) -> bool:
        if session.state.ended:
            return True
        if transitions.never_ran(session):
            hands = SessionFiles.of(self._home, session.id).hands()
            free = hands.try_acquire()
            hands.release()
            return free
        try:
            engine = await self._roster.engine_of(session)
            return (await engine.inspect(session.sandbox)).status == "exited"
        except SandboxGone:
            return True
        except EngineError:
            return False

    async def _give_up_if_left(self, session: Session) -> None:
        hands = SessionFiles.of(self._home, session.id).hands()
        if not hands.try_acquire():
            return
        try:
            await self._cleanup.give_up(session.id, _ENDED_WITH_PINFOLD, cancelled=False, actor="pinfold")
        finally:
            hands.release()


async def _knows(engine: Engine, sandbox: str) -> bool:
    """Ask for one sandbox now; a listing is from before the records were read."""
    try:
        await engine.inspect(sandbox)
    except SandboxGone:
        return False
    return True
