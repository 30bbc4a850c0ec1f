"""Search through the keys of all scopes, a part at a time, so that nobody waits behind it."""

from __future__ import annotations

import sqlite3

import msgspec

from services.memory.scopes import rows
from services.memory.scopes.model import Entry, Scope, ScopeKind

_PART = 1000

_HITS = (
    "SELECT scope, id, key FROM (SELECT number, scope, id, key, value, expires_at FROM scoped_values"
    " WHERE number > ?1 AND number <= ?2)"
    " WHERE (expires_at IS NULL OR expires_at > ?3) AND (key LIKE ?4 ESCAPE '\\' OR id LIKE ?4 ESCAPE '\\'"
    " OR value LIKE ?4 ESCAPE '\\' OR EXISTS (SELECT 1 FROM list_items WHERE list = number"
    " AND list_items.value LIKE ?4 ESCAPE '\\')) LIMIT ?5"
)


class Found(msgspec.Struct, frozen=True):
    """A key that a search found."""

    scope: Scope
    entry: Entry


def search_part(
    connection: sqlite3.Connection, text: str, behind: int, limit: int, now: int
) -> tuple[tuple[Found, ...], int | None]:
    """Search the next rows behind a number.

    Returns what was found, and the number to go on behind; None at the end.
    """
    last = "SELECT max(number) FROM (SELECT number FROM scoped_values WHERE number > ? ORDER BY number LIMIT ?)"
    (end,) = connection.execute(last, (behind, _PART)).fetchone()
    if end is None:
        return (), None
    like = f"%{_escaped(text)}%"
    found: list[Found] = []
    for kind, scope_id, key in connection.execute(_HITS, (behind, end, now, like, limit)).fetchall():
        scope = Scope(ScopeKind(kind), scope_id)
        row = rows.find(connection, scope, key, now)
        if row is not None:
            found.append(Found(scope, rows.entry_of(connection, row)))
    return tuple(found), int(end)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
