"""A first look at memory: what was changed last, and which agents have stored how much."""

from __future__ import annotations

import sqlite3

import msgspec

from services.home import Database
from services.memory.scopes import Scope, ScopeKind

_LOOKED_AT = 2000
"""Among so many keys, those that were made last, the one changed last is looked for: there is no index of times, which
each write would pay for."""

_KEY = """
SELECT scope, id, key, updated_at
FROM (SELECT scope, id, key, updated_at, expires_at FROM scoped_values ORDER BY number DESC LIMIT ?)
WHERE expires_at IS NULL OR expires_at > ?
ORDER BY updated_at DESC LIMIT 1
"""
_ROW = """
SELECT a.alias, m.key, m.updated_at
FROM agents AS a JOIN memories AS m
  ON m.number = (SELECT number FROM memories WHERE agent = a.id ORDER BY updated_at DESC LIMIT 1)
ORDER BY m.updated_at DESC LIMIT 1
"""
_COUNTS = """
SELECT alias, (SELECT count(*) FROM (SELECT 1 FROM memories WHERE agent = agents.id LIMIT ?)) FROM agents
"""


class Newest(msgspec.Struct, frozen=True):
    """A key of a scope, or a row that an agent stored in the home's database.

    Attributes:
        scope: Whose key; None for a row.
        agent: The alias of whoever stored the row; "" for a key.
        key: Names it there.
        at: When it was changed, nanoseconds since 1970.
    """

    scope: Scope | None
    agent: str
    key: str
    at: int


async def newest_change(database: Database, now: int) -> Newest | None:
    """Find what was changed last; None where nothing is remembered.

    Args:
        database: The home's.
        now: Nanoseconds since 1970; what has expired by then is nothing.
    """

    def job(connection: sqlite3.Connection) -> Newest | None:
        key = connection.execute(_KEY, (_LOOKED_AT, now)).fetchone()
        row = connection.execute(_ROW).fetchone()
        found = [Newest(Scope(ScopeKind(key[0]), key[1]), "", key[2], key[3])] if key else []
        found += [Newest(None, *row)] if row else []
        return max(found, key=lambda newest: newest.at, default=None)

    return await database.read(job)


async def rows_by_agent(database: Database, most: int) -> dict[str, int]:
    """Count the rows that each agent stored in the home's database, by alias.

    Args:
        database: The home's.
        most: Count no further; an agent with more has one more than this.
    """
    return await database.read(lambda connection: dict(connection.execute(_COUNTS, (most + 1,)).fetchall()))
