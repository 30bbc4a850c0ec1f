"""The journal of moves: what was begun and is not done; every function runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3

import msgspec


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A move that has begun.

    Attributes:
        kept: What the target held before, by digests of the keys.
        started_at: Nanoseconds since 1970.
        switched_at: When the target began to count; 0 while the source does.
    """

    alias: str
    source: str
    target: str
    kept: tuple[str, ...]
    started_at: int
    switched_at: int = 0


def find(connection: sqlite3.Connection, alias: str) -> Entry | None:
    """Read the move of an agent."""
    sql = "SELECT alias, source, target, kept, started_at, switched_at FROM memory_moves WHERE alias = ?"
    found = connection.execute(sql, (alias,)).fetchone()
    if found is None:
        return None
    alias, source, target, kept, started_at, switched_at = found
    return Entry(
        alias=alias,
        source=source,
        target=target,
        kept=msgspec.json.decode(kept, type=tuple[str, ...]),
        started_at=started_at,
        switched_at=switched_at,
    )


def begin(connection: sqlite3.Connection, entry: Entry) -> None:
    """Write a move down."""
    sql = "INSERT INTO memory_moves (alias, source, target, kept, started_at) VALUES (?, ?, ?, ?, ?)"
    kept = msgspec.json.encode(entry.kept).decode()
    connection.execute(sql, (entry.alias, entry.source, entry.target, kept, entry.started_at))


def switch(connection: sqlite3.Connection, alias: str, now: int) -> None:
    """Write down that the target counts."""
    connection.execute("UPDATE memory_moves SET switched_at = ? WHERE alias = ?", (now, alias))


def end(connection: sqlite3.Connection, alias: str) -> None:
    """Strike a move out."""
    connection.execute("DELETE FROM memory_moves WHERE alias = ?", (alias,))
