"""Sessions as records to keep, and back from them; every function runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3

import msgspec

from services.errors import SessionError
from services.sandbox import rows
from services.sandbox.model import Session, Step


class SessionRecord(msgspec.Struct, frozen=True):
    """A session with its steps, oldest first."""

    session: Session
    steps: tuple[Step, ...]


def record_of(connection: sqlite3.Connection, session: str) -> bytes:
    """Write a session with its steps as JSON; empty when there is none of this id."""
    found = rows.find_session(connection, session)
    if found is None:
        return b""
    return msgspec.json.encode(SessionRecord(found, rows.steps_of(connection, session)))


def read_record(record: bytes) -> SessionRecord:
    """Read a record.

    Raises:
        SessionError: It is none, or of a session that has not ended.
    """
    try:
        found = msgspec.json.decode(record, type=SessionRecord, strict=False)
    except msgspec.MsgspecError as error:
        raise SessionError("a session cannot be restored", why=f"its record is damaged: {error}") from error
    if found.session.state.live:
        raise SessionError(f"session {found.session.id} cannot be restored", why=f"it was {found.session.state.value}")
    return found


def restore_session(connection: sqlite3.Connection, record: SessionRecord, alias: str) -> bool:
    """Put a session's row and steps back, without a sandbox; False when there is one of its id.

    Args:
        connection: In a transaction.
        record: As it was kept.
        alias: What its agent is called now.
    """
    session = record.session
    if rows.find_session(connection, session.id) is not None:
        return False
    spec = msgspec.structs.replace(session.spec, agent=alias)
    rows.insert_session(connection, msgspec.structs.replace(session, agent=alias, sandbox="", spec=spec))
    connection.execute("DELETE FROM removed_sessions WHERE id = ?", (session.id,))
    connection.executemany(
        "INSERT INTO steps (session, number, name, state, detail, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (session.id, step.number, step.name, step.state, step.detail, step.started_at, step.ended_at)
            for step in record.steps
        ],
    )
    return True
