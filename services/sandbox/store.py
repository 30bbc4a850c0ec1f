"""Sessions and their steps in the database."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from services.activity import ActivityGrew, ActivityLog, Draft, Events, SessionChanged
from services.errors import DatabaseError, SessionNotFound
from services.home import Database, next_revision
from services.sandbox.model import SandboxSpec, Session, SessionState, Step, StepState

_COLUMNS = (
    "id, agent, runner, engine, node, image, lifecycle, idle_timeout, confined, workspace, state, detail, sandbox, "
    "spec, prompt, created_at, started_at, ended_at, active_at, exit_code, out_of_memory, revision, engine_id"
)
_STEP_COLUMNS = "session, number, name, state, detail, started_at, ended_at"
_NAMED_AT_MOST = 4
_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class StepChange:
    """A step that begins, goes on or ends: the running step of this name is changed, else a new one is added."""

    name: str
    state: StepState
    detail: str = ""


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


class Changes(msgspec.Struct, frozen=True):
    """What changed since a revision.

    Attributes:
        sessions: New and changed ones, oldest change first.
        removed: Ids of sessions that are gone.
        revision: Where to go on next time.
    """

    sessions: tuple[Session, ...]
    removed: tuple[str, ...]
    revision: int


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
        query = f"SELECT {_COLUMNS} FROM sessions ORDER BY created_at DESC, id DESC"
        return await self._database.read(lambda connection: _sessions(connection.execute(query)))

    async def current(self) -> list[Session]:
        """Read the sessions that are live or still have a sandbox, newest first."""
        states = tuple(state.value for state in SessionState if state.live)
        marks = ", ".join("?" * len(states))
        query = (
            f"SELECT {_COLUMNS} FROM sessions WHERE sandbox != '' OR state IN ({marks}) "
            "ORDER BY created_at DESC, id DESC"
        )
        return await self._database.read(lambda connection: _sessions(connection.execute(query, states)))

    async def by_id(self, sessions: Iterable[str]) -> dict[str, Session]:
        """Read the sessions with these ids; unknown ones are left out."""
        ids = tuple(sessions)

        def job(connection: sqlite3.Connection) -> dict[str, Session]:
            return {found.id: found for session in ids if (found := _find(connection, session)) is not None}

        return await self._database.read(job) if ids else {}

    async def removed(self, sessions: Iterable[str]) -> frozenset[str]:
        """Tell which of these ids are of sessions that were removed."""
        ids = tuple(sessions)

        def job(connection: sqlite3.Connection) -> frozenset[str]:
            query = "SELECT 1 FROM removed_sessions WHERE id = ?"
            return frozenset(each for each in ids if connection.execute(query, (each,)).fetchone())

        return await self._database.read(job) if ids else frozenset()

    async def get(self, session: str) -> Session:
        """Read the session with exactly this id.

        Raises:
            SessionNotFound: There is none.
        """
        found = await self._database.read(lambda connection: _find(connection, session))
        if found is None:
            raise SessionNotFound(f"there is no session {session}")
        return found

    async def resolve(self, text: str) -> Session:
        """Find the session that `text` means: its id, its agent's alias (the newest), a unique start or end of its id.

        Raises:
            SessionNotFound: None or several fit.
        """
        return await self._database.read(lambda connection: _resolve(connection, text))

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
        return await self._database.read(lambda connection: list(_steps(connection, session)))

    async def changed_since(self, revision: int) -> Changes:
        """Read what changed after a revision, as of one moment."""
        return await self._database.read(lambda connection: _changed_since(connection, revision))

    async def insert(self, session: Session, step: StepChange) -> Session:
        """Record a new session with its first step."""

        def job(connection: sqlite3.Connection) -> Session:
            recorded = msgspec.structs.replace(session, revision=next_revision(connection))
            marks = ", ".join("?" * len(msgspec.structs.fields(Session)))
            connection.execute(f"INSERT INTO sessions ({_COLUMNS}) VALUES ({marks})", _row(recorded))
            self._apply(connection, recorded.id, step)
            return recorded

        recorded = await self._database.write(job)
        self._events.publish(SessionChanged(recorded.id))
        return recorded

    async def change(self, session: str, decide: Decide) -> Session | None:
        """Let `decide` look at the session and write what it says; None when it leaves it or the session is gone.

        Other processes wait meanwhile, so that of two who want the same change exactly one makes it.
        """

        def job(connection: sqlite3.Connection) -> tuple[Session, bool] | None:
            current = _find(connection, session)
            update = None if current is None else decide(current, _steps(connection, session))
            if update is None:
                return None
            changed = msgspec.structs.replace(update.session, revision=next_revision(connection))
            _update(connection, changed)
            for step in update.steps:
                self._apply(connection, session, step)
            if update.close is not None:
                connection.execute(
                    "UPDATE steps SET state = ?, ended_at = ? WHERE session = ? AND state = 'running'",
                    (update.close, self._now(), session),
                )
            if update.entry is not None:
                self._activity.append(connection, update.entry)
            return changed, update.entry is not None

        done = await self._database.write(job)
        if done is None:
            return None
        self._events.publish(SessionChanged(session))
        if done[1]:
            self._events.publish(ActivityGrew())
        return done[0]

    async def delete(self, session: str, entry: Draft) -> bool:
        """Delete a session with its steps and remember that it is gone; False when it was gone already."""

        def job(connection: sqlite3.Connection) -> bool:
            if connection.execute("DELETE FROM sessions WHERE id = ?", (session,)).rowcount == 0:
                return False
            connection.execute(
                "INSERT OR REPLACE INTO removed_sessions (id, revision) VALUES (?, ?)",
                (session, next_revision(connection)),
            )
            self._activity.append(connection, entry)
            return True

        deleted = await self._database.write(job)
        if deleted:
            self._events.publish(SessionChanged(session))
            self._events.publish(ActivityGrew())
        return deleted

    def _apply(self, connection: sqlite3.Connection, session: str, step: StepChange) -> None:
        now = self._now()
        ended_at = None if step.state == "running" else now
        running = connection.execute(
            "SELECT number FROM steps WHERE session = ? AND name = ? AND state = 'running' ORDER BY number DESC",
            (session, step.name),
        ).fetchone()
        if running is not None:
            connection.execute(
                "UPDATE steps SET state = ?, detail = CASE ? WHEN '' THEN detail ELSE ? END, ended_at = ? "
                "WHERE session = ? AND number = ?",
                (step.state, step.detail, step.detail, ended_at, session, running[0]),
            )
            return
        connection.execute(
            f"INSERT INTO steps ({_STEP_COLUMNS}) "
            "SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM steps WHERE session = ?",
            (session, step.name, step.state, step.detail, now, ended_at, session),
        )


def _row(session: Session) -> tuple[object, ...]:
    values = msgspec.structs.astuple(session)
    return tuple(msgspec.json.encode(value).decode() if isinstance(value, SandboxSpec) else value for value in values)


def _sessions(cursor: sqlite3.Cursor) -> list[Session]:
    return [_session(row) for row in cursor]


def _session(row: tuple[object, ...]) -> Session:
    fields = dict(zip((field.name for field in msgspec.structs.fields(Session)), row, strict=True))
    try:
        fields["spec"] = msgspec.json.decode(str(fields["spec"]))
        return msgspec.convert(fields, Session, strict=False)
    except msgspec.MsgspecError as error:
        raise DatabaseError(f"the record of session {row[0]} is damaged", why=str(error)) from error


def _find(connection: sqlite3.Connection, session: str) -> Session | None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (session,)).fetchone()
    return None if row is None else _session(row)


def _resolve(connection: sqlite3.Connection, text: str) -> Session:
    exact = _find(connection, text)
    if exact is not None:
        return exact
    newest = connection.execute(
        "SELECT id FROM sessions WHERE agent = ? ORDER BY created_at DESC, id DESC LIMIT 1", (text,)
    ).fetchone()
    fitting = [newest] if newest else []
    for condition in ("substr(id, 1, length(?)) = ?", "substr(id, -1 - length(?)) = '-' || ?"):
        if text and not fitting:
            fitting = connection.execute(
                f"SELECT id FROM sessions WHERE {condition} ORDER BY id DESC LIMIT ?", (text, text, _NAMED_AT_MOST + 1)
            ).fetchall()
    if not fitting:
        raise SessionNotFound(f"there is no session {text!r}", fix="`pinfold sessions list` names them.")
    if len(fitting) > 1:
        named = ", ".join(row[0] for row in fitting[:_NAMED_AT_MOST])
        more = ", …" if len(fitting) > _NAMED_AT_MOST else ""
        raise SessionNotFound(f"{text!r} fits several sessions", why=f"{named}{more}", fix="Give more of the id.")
    found = _find(connection, fitting[0][0])
    if found is None:
        raise SessionNotFound(f"there is no session {text!r}")
    return found


def _steps(connection: sqlite3.Connection, session: str) -> tuple[Step, ...]:
    rows = connection.execute(f"SELECT {_STEP_COLUMNS} FROM steps WHERE session = ? ORDER BY number", (session,))
    return tuple(Step(*row) for row in rows)


def _changed_since(connection: sqlite3.Connection, revision: int) -> Changes:
    sessions = _sessions(
        connection.execute(f"SELECT {_COLUMNS} FROM sessions WHERE revision > ? ORDER BY revision", (revision,))
    )
    removed = connection.execute(
        "SELECT id FROM removed_sessions WHERE revision > ? ORDER BY revision", (revision,)
    ).fetchall()
    (latest,) = connection.execute("SELECT value FROM counter").fetchone()
    return Changes(tuple(sessions), tuple(row[0] for row in removed), latest)


def _update(connection: sqlite3.Connection, session: Session) -> None:
    connection.execute(
        "UPDATE sessions SET state = ?, detail = ?, sandbox = ?, engine_id = ?, started_at = ?, ended_at = ?, "
        "active_at = ?, exit_code = ?, out_of_memory = ?, revision = ? WHERE id = ?",
        (
            session.state,
            session.detail,
            session.sandbox,
            session.engine_id,
            session.started_at,
            session.ended_at,
            session.active_at,
            session.exit_code,
            session.out_of_memory,
            session.revision,
            session.id,
        ),
    )
