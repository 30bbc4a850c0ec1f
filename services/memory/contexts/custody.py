"""An agent's contexts handed on or given up, by whoever moves or removes the agent as a whole.

Every function runs inside the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from services.memory.scopes import Scope


class AgentContext(msgspec.Struct, frozen=True):
    """A context of an agent.

    Attributes:
        open: Somebody works in it, or died while doing so.
    """

    id: str
    open: bool


def contexts_of(connection: sqlite3.Connection, alias: str) -> tuple[AgentContext, ...]:
    """The contexts of an agent, the newest first."""
    sql = "SELECT id, state = 'open' FROM contexts WHERE agent = ? ORDER BY created_at DESC, id"
    return tuple(AgentContext(context, bool(is_open)) for context, is_open in connection.execute(sql, (alias,)))


def rename_contexts(connection: sqlite3.Connection, old: str, new: str) -> int:
    """Give an agent's contexts to another alias, and count them; done again, it changes nothing."""
    return connection.execute("UPDATE contexts SET agent = ? WHERE agent = ?", (new, old)).rowcount


def clear_contexts(connection: sqlite3.Connection, contexts: Sequence[str]) -> None:
    """Let contexts be nobody's; their steps stay as a record of what was done."""
    for context in contexts:
        connection.execute("UPDATE contexts SET agent = '' WHERE id = ?", (context,))


def adopt_contexts(connection: sqlite3.Connection, contexts: Sequence[str], alias: str) -> None:
    """Let contexts that are nobody's be an agent's."""
    for context in contexts:
        connection.execute("UPDATE contexts SET agent = ? WHERE id = ? AND agent = ''", (alias, context))


def purge_scopes(connection: sqlite3.Connection, scopes: Sequence[Scope]) -> int:
    """Delete every key of some scopes, and count them."""
    sql = "DELETE FROM scoped_values WHERE scope = ? AND id = ?"
    return sum(connection.execute(sql, (scope.kind.value, scope.id)).rowcount for scope in scopes)
