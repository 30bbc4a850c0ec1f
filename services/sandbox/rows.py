"""Sessions and steps as rows of the database: read, decoded, found, written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from services.errors import DatabaseError, SessionNotFound
from services.home import next_revision
from services.sandbox.model import SandboxSpec, Session, SessionState, Step, StepState

_COLUMNS = (
    "id, agent, runner, engine, node, image, lifecycle, idle_timeout, confined, workspace, state, detail, sandbox, "
    "spec, prompt, created_at, started_at, ended_at, active_at, exit_code, out_of_memory, revision, engine_id"
)
_STEP_COLUMNS = "session, number, name, state, detail, started_at, ended_at"
_SELECT = f"SELECT {_COLUMNS} FROM sessions"
_NEWEST_FIRST = "ORDER BY created_at DESC, id DESC"
_NAMED_AT_MOST = 4


@dataclass(frozen=True, slots=True)
class StepChange:
    """A step that begins, goes on or ends: the running step of this name is changed, else a new one is added."""

    name: str
    state: StepState
    detail: str = ""


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


# --- reading


def all_sessions(connection: sqlite3.Connection) -> list[Session]:
    """Read all sessions, newest first."""
    return _decoded(connection.execute(f"{_SELECT} {_NEWEST_FIRST}"))


def current_sessions(connection: sqlite3.Connection) -> list[Session]:
    """Read the sessions that are live or still have a sandbox, newest first."""
    states = tuple(state.value for state in SessionState if state.live)
    marks = ", ".join("?" * len(states))
    query = f"{_SELECT} WHERE sandbox != '' OR state IN ({marks}) {_NEWEST_FIRST}"
    return _decoded(connection.execute(query, states))


def find_session(connection: sqlite3.Connection, session: str) -> Session | None:
    """Read the session with exactly this id."""
    found = _decoded(connection.execute(f"{_SELECT} WHERE id = ?", (session,)))
    return found[0] if found else None


def resolve_session(connection: sqlite3.Connection, text: str) -> Session:
    """Find the session that `text` means; see `SessionStore.resolve`."""
    exact = find_session(connection, text)
    if exact is not None:
        return exact
    newest = connection.execute(f"SELECT id FROM sessions WHERE agent = ? {_NEWEST_FIRST} LIMIT 1", (text,)).fetchone()
    fitting = [newest] if newest else []
    for condition in ("substr(id, 1, length(?)) = ?", "substr(id, -1 - length(?)) = '-' || ?"):
        if text and not fitting:
            fitting = connection.execute(
                f"SELECT id FROM sessions WHERE {condition} ORDER BY id DESC LIMIT ?", (text, text, _NAMED_AT_MOST + 1)
            ).fetchall()
    if len(fitting) > 1:
        named = ", ".join(row[0] for row in fitting[:_NAMED_AT_MOST])
        more = ", …" if len(fitting) > _NAMED_AT_MOST else ""
        raise SessionNotFound(f"{text!r} fits several sessions", why=f"{named}{more}", fix="Give more of the id.")
    found = find_session(connection, fitting[0][0]) if fitting else None
    if found is None:
        raise SessionNotFound(f"there is no session {text!r}", fix="`pinfold sessions list` names them.")
    return found


def steps_of(connection: sqlite3.Connection, session: str) -> tuple[Step, ...]:
    """Read a session's steps, oldest first."""
    query = f"SELECT {_STEP_COLUMNS} FROM steps WHERE session = ? ORDER BY number"
    return tuple(Step(*row) for row in connection.execute(query, (session,)))


def removed_of(connection: sqlite3.Connection, sessions: Iterable[str]) -> frozenset[str]:
    """Tell which of these ids are of sessions that were removed."""
    query = "SELECT 1 FROM removed_sessions WHERE id = ?"
    return frozenset(each for each in sessions if connection.execute(query, (each,)).fetchone())


def changes_since(connection: sqlite3.Connection, revision: int) -> Changes:
    """Read what changed after a revision."""
    sessions = _decoded(connection.execute(f"{_SELECT} WHERE revision > ? ORDER BY revision", (revision,)))
    removed = connection.execute(
        "SELECT id FROM removed_sessions WHERE revision > ? ORDER BY revision", (revision,)
    ).fetchall()
    (latest,) = connection.execute("SELECT value FROM counter").fetchone()
    return Changes(tuple(sessions), tuple(row[0] for row in removed), latest)


def _decoded(rows: Iterable[tuple[object, ...]]) -> list[Session]:
    return [_session(row) for row in rows]


def _session(row: tuple[object, ...]) -> Session:
    fields = dict(zip(Session.__struct_fields__, row, strict=True))
    try:
        fields["spec"] = msgspec.json.decode(str(fields["spec"]))
        return msgspec.convert(fields, Session, strict=False)
    except msgspec.MsgspecError as error:
        raise DatabaseError(f"the record of session {row[0]} is damaged", why=str(error)) from error


# --- writing; each inside a transaction of the caller


def insert_session(connection: sqlite3.Connection, session: Session) -> Session:
    """Add a session; return it with its revision."""
    recorded = msgspec.structs.replace(session, revision=next_revision(connection))
    values = [
        msgspec.json.encode(value).decode() if isinstance(value, SandboxSpec) else value
        for value in msgspec.structs.astuple(recorded)
    ]
    marks = ", ".join("?" * len(values))
    connection.execute(f"INSERT INTO sessions ({_COLUMNS}) VALUES ({marks})", values)
    return recorded


def update_session(connection: sqlite3.Connection, session: Session) -> Session:
    """Write what of a session may change; return it with its new revision."""
    changed = msgspec.structs.replace(session, revision=next_revision(connection))
    connection.execute(
        "UPDATE sessions SET state = ?, detail = ?, sandbox = ?, engine_id = ?, started_at = ?, ended_at = ?, "
        "active_at = ?, exit_code = ?, out_of_memory = ?, revision = ? WHERE id = ?",
        (
            changed.state,
            changed.detail,
            changed.sandbox,
            changed.engine_id,
            changed.started_at,
            changed.ended_at,
            changed.active_at,
            changed.exit_code,
            changed.out_of_memory,
            changed.revision,
            changed.id,
        ),
    )
    return changed


def delete_session(connection: sqlite3.Connection, session: str) -> bool:
    """Delete a session with its steps and remember that it is gone; False when there is none."""
    if connection.execute("DELETE FROM sessions WHERE id = ?", (session,)).rowcount == 0:
        return False
    connection.execute(
        "INSERT OR REPLACE INTO removed_sessions (id, revision) VALUES (?, ?)", (session, next_revision(connection))
    )
    return True


def change_step(connection: sqlite3.Connection, session: str, change: StepChange, now: int) -> None:
    """Change the running step of this name, or add one."""
    ended_at = None if change.state == "running" else now
    running = connection.execute(
        "SELECT number FROM steps WHERE session = ? AND name = ? AND state = 'running' ORDER BY number DESC",
        (session, change.name),
    ).fetchone()
    if running is None:
        connection.execute(
            f"INSERT INTO steps ({_STEP_COLUMNS}) "
            "SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM steps WHERE session = ?",
            (session, change.name, change.state, change.detail, now, ended_at, session),
        )
        return
    connection.execute(
        "UPDATE steps SET state = ?, detail = CASE ? WHEN '' THEN detail ELSE ? END, ended_at = ? "
        "WHERE session = ? AND number = ?",
        (change.state, change.detail, change.detail, ended_at, session, running[0]),
    )


def close_steps(connection: sqlite3.Connection, session: str, state: StepState, now: int) -> None:
    """End every step that still runs."""
    connection.execute(
        "UPDATE steps SET state = ?, ended_at = ? WHERE session = ? AND state = 'running'", (state, now, session)
    )
