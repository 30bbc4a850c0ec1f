"""Sessions and their steps in the database."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from services.activity import ActivityGrew, ActivityLog, Draft, Events, SessionChanged
from services.errors import SessionNotFound
from services.home import Database
from services.sandbox import rows
from services.sandbox.model import Session, Step, StepState
from services.sandbox.rows import Changes, StepChange
from services.sandbox.tools import revoke

_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Update:
    """What a decision makes of a session.

    Attributes:
        session: As it shall be; its revision is drawn when it is written.
        steps: In order.
        close: How steps that still run after these end; None leaves them running.
        entry: Added to the activity log in the same transaction.
    """

    session: Session
    steps: tuple[StepChange, ...] = ()
    close: StepState | None = None
    entry: Draft | None = None


Decide = Callable[[Session, tuple[Step, ...]], Update | None]
"""Looks at a session inside the transaction and returns what becomes of it, or None to leave it as it is."""


class SessionStore:
    """Reads and writes sessions; every write is one transaction with a new revision.

    Args:
        database: Where they are kept.
        activity: Gets its entries in the same transaction as the change they tell of.
        events: Told of every change made here.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(
        self, database: Database, activity: ActivityLog, events: Events, now: Callable[[], int] = time.time_ns
    ) -> None:
        self._database = database
        self._activity = activity
        self._events = events
        self._now = now

    async def all(self) -> list[Session]:
        """Read all sessions, newest first."""
        return await self._database.read(rows.all_sessions)

    async def current(self) -> list[Session]:
        """Read the sessions that are live or still have a sandbox, newest first."""
        return await self._database.read(rows.current_sessions)

    async def by_id(self, sessions: Iterable[str]) -> dict[str, Session]:
        """Read the sessions with these ids; unknown ones are left out."""
        ids = tuple(sessions)

        def job(connection: sqlite3.Connection) -> dict[str, Session]:
            found = (rows.find_session(connection, session) for session in ids)
            return {session.id: session for session in found if session is not None}

        return await self._database.read(job) if ids else {}

    async def removed(self, sessions: Iterable[str]) -> frozenset[str]:
        """Tell which of these ids are of sessions that were removed."""
        ids = tuple(sessions)
        return await self._database.read(lambda connection: rows.removed_of(connection, ids))

    async def get(self, session: str) -> Session:
        """Read the session with exactly this id.

        Raises:
            SessionNotFound: There is none.
        """
        found = await self._database.read(lambda connection: rows.find_session(connection, session))
        if found is None:
            raise SessionNotFound(f"there is no session {session}")
        return found

    async def resolve(self, text: str) -> Session:
        """Find the session that `text` means: its id, its agent's alias (the newest), a unique start or end of its id.

        Raises:
            SessionNotFound: None or several fit.
        """
        return await self._database.read(lambda connection: rows.resolve_session(connection, text))

    async def until(self, session: str, done: Callable[[Session], bool], within: float | None = None) -> Session | None:
        """Wait until a session is as wanted, whoever makes it so; None when `within` seconds have passed.

        Raises:
            SessionNotFound: It is gone.
        """
        deadline = None if within is None else time.monotonic() + within
        while not done(found := await self.get(session)):
            if deadline is not None and time.monotonic() >= deadline:
                return None
            await asyncio.sleep(_LOOK_SECONDS)
        return found

    async def steps(self, session: str) -> list[Step]:
        """Read a session's steps, oldest first; none for an unknown session."""
        return await self._database.read(lambda connection: list(rows.steps_of(connection, session)))

    async def changed_since(self, revision: int) -> Changes:
        """Read what changed after a revision, as of one moment."""
        return await self._database.read(lambda connection: rows.changes_since(connection, revision))

    async def insert(self, session: Session, step: StepChange) -> Session:
        """Record a new session with its first step."""

        def job(connection: sqlite3.Connection) -> Session:
            recorded = rows.insert_session(connection, session)
            rows.change_step(connection, recorded.id, step, self._now())
            return recorded

        recorded = await self._database.write(job)
        self._events.publish(SessionChanged(recorded.id))
        return recorded

    async def change(self, session: str, decide: Decide) -> Session | None:
        """Let `decide` look at the session and write what it says; None when it leaves it or the session is gone.

        Other processes wait meanwhile, so that of two who want the same change exactly one makes it.
        """

        def job(connection: sqlite3.Connection) -> tuple[Session, bool] | None:
            current = rows.find_session(connection, session)
            update = None if current is None else decide(current, rows.steps_of(connection, session))
            if update is None:
                return None
            changed = rows.update_session(connection, update.session)
            if changed.state.ended:
                revoke(connection, session)
            for step in update.steps:
                rows.change_step(connection, session, step, self._now())
            if update.close is not None:
                rows.close_steps(connection, session, update.close, self._now())
            if update.entry is not None:
                self._activity.append(connection, update.entry)
            return changed, update.entry is not None

        done = await self._database.write(job)
        if done is None:
            return None
        changed, logged = done
        self._events.publish(SessionChanged(session))
        if logged:
            self._events.publish(ActivityGrew())
        return changed

    async def delete(self, session: str, entry: Draft) -> bool:
        """Delete a session with its steps and remember that it is gone; False when it was gone already."""

        def job(connection: sqlite3.Connection) -> bool:
            deleted = rows.delete_session(connection, session)
            if deleted:
                self._activity.append(connection, entry)
            return deleted

        deleted = await self._database.write(job)
        if deleted:
            self._events.publish(SessionChanged(session))
            self._events.publish(ActivityGrew())
        return deleted
