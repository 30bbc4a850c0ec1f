"""Vectors beside agents' rows in SQLite; every function runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from services.memory.agents.vectors.model import Source, Space

Numbered = Sequence[tuple[int, int, bytes]]
"""Vectors with their numbers, and before the vectors those of their rows."""

_SOURCE = "m.number, m.key, m.content, m.findings <> ''"
_SAME = "number = ? AND key = ? AND content = ? AND (findings <> '') = ?"


class Coverage(msgspec.Struct, frozen=True):
    """How many of an agent's memories have vectors.

    Attributes:
        memories: All there are.
        here: Those with one in the space that was asked about, or without one on purpose.
        elsewhere: Those with one in another.
    """

    memories: int
    here: int
    elsewhere: int

    @property
    def missing(self) -> int:
        """How many have none at all."""
        return max(0, self.memories - self.here - self.elsewhere)

    @property
    def lacking(self) -> int:
        """How many have none in this space."""
        return max(0, self.memories - self.here)


def mark_due(connection: sqlite3.Connection, agent: str, key: str) -> None:
    """Write down that a row is to get a vector, unless it has one."""
    connection.execute(
        "INSERT OR IGNORE INTO memory_vectors_due (memory) SELECT number FROM memories WHERE agent = ? AND key = ?"
        " AND number NOT IN (SELECT memory FROM memory_vectors)",
        (agent, key),
    )


def due(connection: sqlite3.Connection, agent: str, limit: int) -> list[Source]:
    """Read some of the rows of an agent that are to get a vector."""
    sql = (
        f"SELECT {_SOURCE} FROM memory_vectors_due AS d CROSS JOIN memories AS m ON m.number = d.memory"
        " WHERE m.agent = ? LIMIT ?"
    )
    return _sources(connection.execute(sql, (agent, limit)))


def are_due(connection: sqlite3.Connection) -> list[str]:
    """The aliases of agents with rows that are to get a vector."""
    sql = (
        "SELECT DISTINCT a.alias FROM memory_vectors_due AS d JOIN memories AS m ON m.number = d.memory"
        " JOIN agents AS a ON a.id = m.agent"
    )
    return [str(alias) for (alias,) in connection.execute(sql)]


def settle(connection: sqlite3.Connection, sources: Iterable[Source]) -> None:
    """Strike out rows that were to get a vector, but for those that were changed since they were read."""
    sql = f"DELETE FROM memory_vectors_due WHERE memory = (SELECT number FROM memories WHERE {_SAME})"
    connection.executemany(sql, [_sameness(source) for source in sources])


def lacking(connection: sqlite3.Connection, agent: str, space: int, after: str, limit: int) -> list[Source]:
    """Read rows of an agent that have no vector in a space, sorted by key, behind a key."""
    sql = (
        f"SELECT {_SOURCE} FROM memories AS m LEFT JOIN memory_vectors AS v ON v.memory = m.number"
        " WHERE m.agent = ? AND m.key > ? AND v.space IS NOT ? ORDER BY m.key LIMIT ?"
    )
    return _sources(connection.execute(sql, (agent, after, space, limit)))


def find_space(connection: sqlite3.Connection, space: Space) -> int:
    """Find the number of a space; 0 when there are no vectors in it yet."""
    sql = "SELECT number FROM vector_spaces WHERE provider = ? AND model = ? AND dimensions = ?"
    found = connection.execute(sql, msgspec.structs.astuple(space)).fetchone()
    return int(found[0]) if found else 0


def newest_space(connection: sqlite3.Connection, provider: str, model: str, dimensions: int) -> int:
    """Find the space an embedder was last seen to make vectors of; 0 when it was not seen yet.

    Args:
        connection: Where.
        provider: The embedder's.
        model: The model asked for.
        dimensions: How many numbers a vector shall have; 0 is any.
    """
    sql = "SELECT max(number) FROM vector_spaces WHERE provider = ?1 AND model = ?2 AND (?3 = 0 OR dimensions = ?3)"
    (found,) = connection.execute(sql, (provider, model, dimensions)).fetchone()
    return int(found or 0)


def sure_space(connection: sqlite3.Connection, space: Space) -> int:
    """Find the number of a space, or give it one."""
    sql = "INSERT OR IGNORE INTO vector_spaces (provider, model, dimensions) VALUES (?, ?, ?)"
    connection.execute(sql, msgspec.structs.astuple(space))
    return find_space(connection, space)


def put(connection: sqlite3.Connection, space: int, made: Iterable[tuple[Source, bytes]]) -> int:
    """Store vectors of rows that still are what the vectors were made of, and count them."""
    sql = (
        "INSERT OR REPLACE INTO memory_vectors (memory, agent, space, vector)"
        f" SELECT number, agent, ?, ? FROM memories WHERE {_SAME}"
    )
    return sum(connection.execute(sql, (space, vector, *_sameness(source))).rowcount for source, vector in made)


def _sameness(source: Source) -> tuple[object, ...]:
    return (source.memory, source.key, source.content, source.kept_back)


def coverage(connection: sqlite3.Connection, agent: str, space: int) -> Coverage:
    """Count the vectors of an agent."""
    counts = [
        connection.execute(f"SELECT count(*) FROM {counted}", values).fetchone()[0]
        for counted, values in (
            ("memories WHERE agent = ?", (agent,)),
            ("memory_vectors WHERE agent = ? AND space = ?", (agent, space)),
            ("memory_vectors WHERE agent = ? AND space <> ?", (agent, space)),
        )
    ]
    return Coverage(*counts)


def vectors_after(connection: sqlite3.Connection, agent: str, space: int, after: int, limit: int) -> Numbered:
    """Read vectors of an agent behind a number: their number, their row's, and themselves, empty ones too."""
    sql = (
        "SELECT number, memory, vector FROM memory_vectors WHERE agent = ? AND space = ? AND number > ?"
        " ORDER BY number LIMIT ?"
    )
    return connection.execute(sql, (agent, space, after, limit)).fetchall()


def _sources(found: Iterable[tuple[int, str, str, int]]) -> list[Source]:
    return [Source(number, key, content, bool(kept_back)) for number, key, content, kept_back in found]
