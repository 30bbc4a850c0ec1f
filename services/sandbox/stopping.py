"""The stop ladder: interrupt, TERM, KILL, with a pause after each rung; and single signals.

A ladder once begun is climbed to its end: whoever asked for it may go away. The session's `hands` lock keeps two
Pinfolds from climbing the same one; when its Pinfold dies another goes on from the rung that was reached.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from services.errors import (
    DatabaseError,
    EngineError,
    PinfoldError,
    SandboxGone,
    SessionError,
    SessionNotFound,
    SessionRefused,
)
from services.home import Home
from services.sandbox import transitions
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import Engine, Signal
from services.sandbox.following import Followers
from services.sandbox.model import Session, SessionState, Step
from services.sandbox.roster import EngineRoster
from services.sandbox.session_files import SessionFiles, take
from services.sandbox.store import SessionStore
from services.sandbox.unforeseen import Unforeseen

_AFTER_KILL_SECONDS = 10.0
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.2
_TAKE_OVER_SECONDS = 1.0
_STARTER_SECONDS = 0.5
"""A start that has just ended gives its lock back within moments."""


class _Rung(NamedTuple):
    """One signal of the ladder; `step` names it in the session's steps, `said` on the way to the next."""

    step: str
    signal: Signal
    verb: str
    said: str


_LADDER = (
    _Rung("interrupt", "INT", "session.interrupt", "interrupted"),
    _Rung("terminate", "TERM", "session.terminate", "sent TERM"),
    _Rung("kill", "KILL", "session.kill", "sent KILL"),
)
_KILL = 2


class Stopper:
    """Stops, kills and interrupts the main process of sessions.

    Args:
        unforeseen: Told of errors that are none of Pinfold's.
    """

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        roster: EngineRoster,
        cleanup: Cleanup,
        followers: Followers,
        now: Callable[[], int],
        unforeseen: Unforeseen,
    ) -> None:
        self._home = home
        self._store = store
        self._roster = roster
        self._cleanup = cleanup
        self._followers = followers
        self._now = now
        self._unforeseen = unforeseen
        self._ladders: dict[str, asyncio.Task[None]] = {}

    async def interrupt(self, session: Session) -> None:
        """Send an interrupt to the main process, which may handle it and go on.

        Raises:
            SessionRefused: The session is not running.
            EngineError: The signal could not be sent.
        """
        if await self._store.change(session.id, transitions.interrupting()) is None:
            raise SessionRefused(f"session {session.id} cannot be interrupted", why=f"it is {session.state.value}")
        try:
            await (await self._roster.engine_of(session)).signal(session.sandbox, "INT")
        except EngineError as error:
            await self._store.change(session.id, transitions.interrupted(str(error)))
            raise
        await self._store.change(session.id, transitions.interrupted())

    async def stop(self, session: Session, *, actor: str = "operator", reason: str = "stopping") -> Session:
        """Climb the ladder until the session has ended; one that ended already is left as it is.

        Raises:
            SessionError: It would not end, or its engine is away; it is still recorded as running.
        """
        await self.begin(session, actor=actor, reason=reason)
        return await self._await_end(session)

    async def begin(self, session: Session, *, actor: str = "operator", reason: str = "stopping") -> None:
        """Begin to stop a session and do not wait."""
        asked = await self._store.change(session.id, transitions.stopping(self._now(), "session.stop", actor, reason))
        if asked is not None and not transitions.never_ran(asked):
            self._climb(asked, 0)

    async def kill(self, session: Session) -> Session:
        """End a session at once, also one that is being stopped.

        Raises:
            SessionError: It would not end, or its engine is away.
        """
        asked = await self._store.change(
            session.id, transitions.stopping(self._now(), "session.kill", "operator", "killing")
        )
        if asked is not None and not transitions.never_ran(asked):
            self._climb(asked, _KILL)
        elif asked is None:
            await self._cut_short(session)
        return await self._await_end(session)

    async def resume(self, session: Session) -> None:
        """Go on with a stop that a Pinfold which is gone had begun; does nothing while another is at it."""
        if session.state is not SessionState.STOPPING or session.id in self._ladders:
            return
        if transitions.never_ran(session):
            await self._give_up_unstarted(session)
        else:
            self._climb(session, _reached(await self._store.steps(session.id)))

    async def close(self) -> None:
        """Leave ladders where they are; another Pinfold, or the next one, goes on with them."""
        tasks = list(self._ladders.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _climb(self, session: Session, first: int) -> None:
        if session.id not in self._ladders:
            task = asyncio.create_task(self._run_ladder(session, first), name=f"stop {session.id}")
            self._ladders[session.id] = task
            task.add_done_callback(lambda _: self._ladders.pop(session.id, None))
            self._unforeseen.watch(task)

    async def _run_ladder(self, session: Session, first: int) -> None:
        hands = SessionFiles.of(self._home, session.id).hands()
        if not await take(hands, within=_STARTER_SECONDS):
            return  # another Pinfold climbs; who waits here takes over when it is gone
        try:
            engine = await self._roster.engine_of(session)
            if (await engine.inspect(session.sandbox)).status == "exited":
                return
            for number, rung in enumerate(_LADDER[first:], start=first):
                if await self._ends_on(rung, number, session, engine):
                    return
            await self._store.change(session.id, transitions.not_stopped("it goes on after KILL"))
        except SandboxGone:
            return  # its follower records that it is lost
        except PinfoldError as error:
            with suppress(DatabaseError):  # then the session is still recorded as stopping, and the stop goes on later
                await self._store.change(session.id, transitions.not_stopped(str(error)))
        finally:
            hands.release()
            self._followers.ensure(session.id)
            self._followers.look_again()

    async def _ends_on(self, rung: _Rung, number: int, session: Session, engine: Engine) -> bool:
        """Send one rung's signal and wait; whether the session needs no further rung."""
        following = _LADDER[number + 1] if number + 1 < len(_LADDER) else None
        grace = session.spec.stop_timeout if following else _AFTER_KILL_SECONDS
        detail = _awaiting(rung, following, grace)
        if await self._store.change(session.id, transitions.rung(rung.step, "running", detail, verb=rung.verb)) is None:
            return True
        await engine.signal(session.sandbox, rung.signal)
        deadline, pause, told = time.monotonic() + grace, _FIRST_LOOK, detail
        while (rest := deadline - time.monotonic()) > 0:
            if (await engine.inspect(session.sandbox)).status == "exited":
                await self._store.change(session.id, transitions.rung(rung.step, "done", rung.said))
                return True
            await asyncio.sleep(min(pause, rest))
            pause = min(2 * pause, _LAST_LOOK)
            detail = _awaiting(rung, following, rest)
            if detail != told:
                await self._store.change(session.id, transitions.rung(rung.step, "running", detail))
                told = detail
        still = f"still running after {grace:g} s"
        await self._store.change(session.id, transitions.rung(rung.step, "failed", rung.said, step_detail=still))
        return False

    async def _cut_short(self, session: Session) -> None:
        """Send KILL to what somebody is stopping already; the ladder notices the end."""
        rung = _LADDER[_KILL]
        if transitions.never_ran(session):
            return
        if await self._store.change(session.id, transitions.rung(rung.step, "running", rung.said, verb=rung.verb)):
            await (await self._roster.engine_of(session)).signal(session.sandbox, rung.signal)

    async def _give_up_unstarted(self, session: Session) -> None:
        hands = SessionFiles.of(self._home, session.id).hands()
        if hands.try_acquire():
            try:
                await self._cleanup.give_up(session.id, "cancelled before it ran", cancelled=True)
            finally:
                hands.release()

    async def _await_end(self, session: Session) -> Session:
        def over(found: Session) -> bool:
            return found.state is not SessionState.STOPPING

        try:
            while (found := await self._store.until(session.id, over, within=_TAKE_OVER_SECONDS)) is None:
                await self.resume(await self._store.get(session.id))
                self._followers.ensure(session.id)
            if found.state.live:
                raise SessionError(f"session {session.id} was not stopped", why=found.detail)
            await self._followers.cleaned_up(session.id)
            return await self._store.get(session.id)
        except SessionNotFound:
            return session  # removed as soon as it had ended


def _awaiting(rung: _Rung, following: _Rung | None, rest: float) -> str:
    if following is None:
        return rung.said
    return f"{rung.said}; {following.signal} in {math.ceil(rest)} s"


def _reached(steps: Sequence[Step]) -> int:
    """The rung to go on with: the one that was running, else the one after the last that did not help."""
    numbers = {rung.step: number for number, rung in enumerate(_LADDER)}
    climbed = [step for step in steps if step.name in numbers]
    if not climbed or climbed[-1].state == "done":
        return 0
    last = numbers[climbed[-1].name]
    return last if climbed[-1].state == "running" else min(last + 1, _KILL)
