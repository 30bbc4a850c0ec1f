"""When a sandbox is stopped and removed without anybody asking.

| lifecycle | while it runs | after its end |
| --- | --- | --- |
| oneshot | stopped after 8 idle hours | sandbox removed at once |
| session | stopped when idle for its timeout | sandbox removed once idle for its timeout, counted from the end |
| longrunning | stopped when idle for its timeout | kept |
| persistent | never touched | kept |

Whatever the lifecycle, a sandbox whose main process never ran is removed. The record and the output always stay.

A sandbox is idle when nothing was heard of it for its timeout: no output, no shell open, no processor time beyond a
trickle. Nothing is measured until three quarters of the timeout have passed in silence; from then on one observation is
kept, and only what was watched for the last quarter is stopped, so that a Pinfold which has just started never stops
what it has not yet caught up with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from msgspec.structs import replace

from services.errors import EngineError, PinfoldError
from services.home import BlockingCalls, Home
from services.output import SpoolReader
from services.sandbox import transitions, upkeep
from services.sandbox.cleanup import Cleanup
from services.sandbox.model import Session, SessionState
from services.sandbox.roster import EngineRoster
from services.sandbox.session_files import SessionFiles, take
from services.sandbox.shells import shell_is_open
from services.sandbox.stopping import Stopper
from services.sandbox.store import SessionStore

_WATCHED_FROM = 0.75
_TRICKLE = 0.01
"""Cores. An idle shell or a waiting server stays far below; a compiler, a model or a test run far above."""
_SAMPLE_SECONDS = 5.0
_HANDS_SECONDS = 1.0
"""A stop that has just come to its end gives the lock back within moments."""
_RETRY_FIRST, _RETRY_LAST = 5 * 10**9, 300 * 10**9
_SECOND = 10**9
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.25, 2.0


@dataclass(frozen=True, slots=True)
class _Observation:
    """What a sandbox had done at one moment of its silence."""

    at: int
    output: int
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class _Sample:
    cpu: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class _Output:
    size: int
    last_at: int


class Lifecycle:
    """Stops what is idle and removes what is over.

    Args:
        now: The clock, nanoseconds since 1970; all deadlines are told by it.
    """

    def __init__(
        self,
        home: Home,
        store: SessionStore,
        roster: EngineRoster,
        cleanup: Cleanup,
        stopper: Stopper,
        calls: BlockingCalls,
        now: Callable[[], int],
    ) -> None:
        self._home = home
        self._store = store
        self._roster = roster
        self._cleanup = cleanup
        self._stopper = stopper
        self._calls = calls
        self._now = now
        self._observed: dict[str, _Observation] = {}
        self._not_before: dict[str, tuple[int, int]] = {}

    async def look(self) -> float:
        """Do what is due for every session; return how many seconds the next look may wait."""
        sessions = await self._store.current()
        self._forget_all_but(sessions)
        await asyncio.gather(*(self._look_at(session) for session in sessions))
        timeouts = [session.idle_timeout for session in sessions if session.sandbox and session.idle_timeout]
        return min(_LONGEST_PAUSE, max(_SHORTEST_PAUSE, min(timeouts, default=_LONGEST_PAUSE) / 16))

    async def after_end(self, session: Session) -> None:
        """Remove the sandbox of a session that has just ended, when its lifecycle says so."""
        reason = self._reason_to_remove(session)
        if reason:
            await self._remove(session, reason)

    async def _look_at(self, session: Session) -> None:
        if not session.sandbox:
            return
        if session.state.ended:
            await self.after_end(session)
        elif session.state is SessionState.RUNNING and session.idle_timeout is not None:
            await self._stop_if_idle(session, session.idle_timeout)

    # --- after the end

    def _reason_to_remove(self, session: Session) -> str:
        if not session.state.ended or not session.sandbox:
            return ""
        if transitions.never_ran(session):
            return "it was never used"
        if session.lifecycle == "oneshot":
            return "oneshot: removed at its end"
        silence = self._now() - (session.active_at or session.created_at)
        if session.lifecycle == "session" and session.idle_timeout is not None:
            return f"idle for {_spoken(session.idle_timeout)}" if silence >= session.idle_timeout * _SECOND else ""
        return ""

    async def _remove(self, session: Session, reason: str) -> None:
        not_before, pause = self._not_before.get(session.id, (0, _RETRY_FIRST))
        hands = SessionFiles.of(self._home, session.id).hands()
        if self._now() < not_before or not await take(hands, within=_HANDS_SECONDS):
            return
        try:
            if not await self._cleanup.remove_sandbox(session, reason):
                self._not_before[session.id] = (self._now() + pause, min(2 * pause, _RETRY_LAST))
        finally:
            hands.release()

    # --- while it runs

    async def _stop_if_idle(self, session: Session, idle: float) -> None:
        now, heard = self._now(), session.active_at or session.created_at
        if now - heard < _WATCHED_FROM * idle * _SECOND:
            self._observed.pop(session.id, None)
            return
        files = SessionFiles.of(self._home, session.id)
        output = await self._calls.run(_output_of, files)
        before = self._observed.get(session.id)
        if (before is not None and output.size > before.output) or await self._calls.run(shell_is_open, files):
            await self._heard(session, now)
        elif output.last_at > heard:
            await self._heard(session, output.last_at)
            await self._stop_if_idle(replace(session, active_at=output.last_at), idle)
        elif before is None:
            await self._observe(session, output.size)
        elif now - heard >= idle * _SECOND and now - before.at >= (1 - _WATCHED_FROM) * idle * _SECOND / 2:
            await self._judge(session, before, idle)

    async def _heard(self, session: Session, at: int) -> None:
        self._observed.pop(session.id, None)
        await self._store.change(session.id, upkeep.active(at))

    async def _observe(self, session: Session, output: int) -> None:
        sample = await self._sample(session)
        if sample is not None:
            self._observed[session.id] = _Observation(self._now(), output, sample.cpu_seconds)

    async def _judge(self, session: Session, before: _Observation, idle: float) -> None:
        sample = await self._sample(session)
        if sample is None:
            return  # nothing is known, so nothing is done
        seconds = max((self._now() - before.at) / _SECOND, 0.001)
        if max(sample.cpu, (sample.cpu_seconds - before.cpu_seconds) / seconds) > _TRICKLE:
            await self._heard(session, self._now())
        else:
            await self._stopper.begin(session, actor="pinfold", reason=f"idle for {_spoken(idle)}")

    async def _sample(self, session: Session) -> _Sample | None:
        """Measure for about a second; None when the engine cannot tell now."""
        try:
            engine = await self._roster.engine_of(session)
            async with asyncio.timeout(_SAMPLE_SECONDS), aclosing(engine.usage(session.sandbox)) as usage:
                async for used in usage:
                    if used.cpu is not None:
                        return _Sample(used.cpu, used.cpu_seconds)
        except (EngineError, TimeoutError):
            return None
        return None

    def _forget_all_but(self, sessions: list[Session]) -> None:
        with_sandbox = {session.id for session in sessions if session.sandbox}
        for known in (self._observed, self._not_before):
            for session in known.keys() - with_sandbox:
                del known[session]


def _output_of(files: SessionFiles) -> _Output:
    try:
        reader = SpoolReader.open(files.output)
    except PinfoldError:
        return _Output(0, 0)  # who follows it says what is wrong with it
    try:
        last = reader.lines(max(reader.first, reader.end - 1), 1, cut=0)
        return _Output(reader.size, last[0].at if last else 0)
    finally:
        reader.close()


def _spoken(seconds: float) -> str:
    if seconds >= 3600 and seconds % 3600 == 0:
        return f"{seconds / 3600:g} h"
    return f"{seconds / 60:g} min" if seconds >= 60 else f"{seconds:g} s"
