"""Agents' rows in SQLite; every function runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from services.errors import MemoryRefused
from services.memory.agents.backend import Cutoffs, Listing, Pruned
from services.memory.agents.model import CORE, Row

COLUMNS = (
    "m.id, a.alias, m.agent, m.key, m.content, m.category, m.session, m.importance, m.pinned, m.superseded_by,"
    " m.findings, m.withheld, m.created_at, m.updated_at"
)
FROM = "memories AS m JOIN agents AS a ON a.id = m.agent"

_PUT = """
INSERT INTO memories (id, agent, key, content, category, session, importance, pinned, superseded_by, findings, withheld,
                      created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, key) DO UPDATE SET
    content = excluded.content, category = excluded.category, session = excluded.session,
    importance = excluded.importance, pinned = excluded.pinned, superseded_by = excluded.superseded_by,
    findings = excluded.findings, withheld = excluded.withheld, updated_at = excluded.updated_at
"""


def agent_id(connection: sqlite3.Connection, alias: str) -> str:
    """Find an agent's id; "" when it has stored nothing yet."""
    found = connection.execute("SELECT id FROM agents WHERE alias = ?", (alias,)).fetchone()
    return str(found[0]) if found else ""


def sure_agent_id(connection: sqlite3.Connection, alias: str, make_id: Callable[[], str], now: int) -> str:
    """Find an agent's id, or give it one."""
    known = agent_id(connection, alias)
    if known:
        return known
    fresh = make_id()
    connection.execute("INSERT INTO agents (id, alias, created_at) VALUES (?, ?, ?)", (fresh, alias, now))
    return fresh


def purge(connection: sqlite3.Connection, alias: str) -> int:
    """Delete an agent with its rows, and count them."""
    agent = agent_id(connection, alias)
    count = connection.execute("DELETE FROM memories WHERE agent = ?", (agent,)).rowcount
    connection.execute("DELETE FROM agents WHERE id = ?", (agent,))
    return count


def rename(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Change an agent's alias; one that has no rows gives way.

    Raises:
        MemoryRefused: Both have rows.
    """
    mine, other = agent_id(connection, old), agent_id(connection, new)
    if not mine or mine == other:
        return
    if other:
        if count(connection, other, Listing(superseded=True)):
            raise MemoryRefused(
                f"{old} cannot be renamed to {new}", why=f"{new} has memories of its own", fix="Move those away first."
            )
        connection.execute("DELETE FROM agents WHERE id = ?", (other,))
    connection.execute("UPDATE agents SET alias = ? WHERE id = ?", (new, mine))


def row_of(values: Sequence[Any]) -> Row:
    """Make a row of the values of `COLUMNS`."""
    return Row(
        id=values[0],
        agent=values[1],
        agent_id=values[2],
        key=values[3],
        content=values[4],
        category=values[5],
        session=values[6],
        importance=values[7],
        pinned=bool(values[8]),
        superseded_by=values[9],
        findings=tuple(values[10].split(",")) if values[10] else (),
        withheld=bool(values[11]),
        created_at=values[12],
        updated_at=values[13],
    )


def find(connection: sqlite3.Connection, agent: str, key: str) -> Row | None:
    """Read one row."""
    sql = f"SELECT {COLUMNS} FROM {FROM} WHERE m.agent = ? AND m.key = ?"
    found = connection.execute(sql, (agent, key)).fetchone()
    return row_of(found) if found else None


def has_id(connection: sqlite3.Connection, row_id: str) -> bool:
    """Tell whether any row has this id."""
    return connection.execute("SELECT 1 FROM memories WHERE id = ?", (row_id,)).fetchone() is not None


def put(connection: sqlite3.Connection, row: Row) -> None:
    """Store a row; one with its key keeps its `id` and `created_at`."""
    connection.execute(
        _PUT,
        (
            row.id,
            row.agent_id,
            row.key,
            row.content,
            row.category,
            row.session,
            row.importance,
            row.pinned,
            row.superseded_by,
            ",".join(row.findings),
            row.withheld,
            row.created_at,
            row.updated_at,
        ),
    )


def remove(connection: sqlite3.Connection, agent: str, key: str) -> bool:
    """Delete one row, and tell whether it was there."""
    return connection.execute("DELETE FROM memories WHERE agent = ? AND key = ?", (agent, key)).rowcount > 0


def remove_session(connection: sqlite3.Connection, agent: str, session: str) -> int:
    """Delete the rows of a session, and count them."""
    sql = "DELETE FROM memories WHERE agent = ? AND session = ? AND session <> ''"
    return connection.execute(sql, (agent, session)).rowcount


def listed(connection: sqlite3.Connection, agent: str, listing: Listing) -> list[Row]:
    """Read rows, the newest first."""
    where, values = _where(agent, listing)
    sql = f"SELECT {COLUMNS} FROM {FROM} WHERE {where} ORDER BY m.updated_at DESC, m.id LIMIT ? OFFSET ?"
    return [row_of(found) for found in connection.execute(sql, (*values, listing.limit, listing.offset))]


def count(connection: sqlite3.Connection, agent: str, listing: Listing) -> int:
    """Count the rows of a listing."""
    where, values = _where(agent, listing)
    (found,) = connection.execute(f"SELECT count(*) FROM memories AS m WHERE {where}", values).fetchone()
    return int(found)


def _where(agent: str, listing: Listing) -> tuple[str, list[object]]:
    conditions, values = ["m.agent = ?"], [agent]
    if not listing.superseded:
        conditions.append("m.superseded_by = ''")
    for column, wanted in (("category", listing.category), ("session", listing.session)):
        if wanted is not None:
            conditions.append(f"m.{column} = ?")
            values.append(wanted)
    return " AND ".join(conditions), [*values]


def change(connection: sqlite3.Connection, agent: str, key: str, column: str, value: object) -> bool:
    """Set `pinned` or `superseded_by` of one row, and tell whether it is there."""
    sql = f"UPDATE memories SET {column} = ? WHERE agent = ? AND key = ?"
    return connection.execute(sql, (value, agent, key)).rowcount > 0


def prune(connection: sqlite3.Connection, agent: str, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
    """Delete what is older than the cutoffs and not pinned, or only count it."""
    counts: dict[str, int] = {}
    size = 0
    for category, cutoff in cutoffs.times.items():
        time = "created_at" if category == CORE else "updated_at"
        where = f"agent = ? AND category = ? AND {time} < ? AND NOT pinned"
        values = (agent, category, cutoff)
        sql = f"SELECT count(*), coalesce(sum(length(CAST(content AS BLOB))), 0) FROM memories WHERE {where}"
        found, bytes_found = connection.execute(sql, values).fetchone()
        if found:
            counts[category] = found
            size += bytes_found
        if not dry_run:
            connection.execute(f"DELETE FROM memories WHERE {where}", values)
    return Pruned(counts, size)


def page(connection: sqlite3.Connection, agent: str, after: str, limit: int, size: int) -> list[Row]:
    """Read rows sorted by key, behind a key: at most `limit`, and no more once their content has `size` characters."""
    sql = f"SELECT {COLUMNS} FROM {FROM} WHERE m.agent = ? AND m.key > ? ORDER BY m.key LIMIT ?"
    found: list[Row] = []
    for values in connection.execute(sql, (agent, after, limit)):
        found.append(row_of(values))
        size -= len(found[-1].content)
        if size <= 0:
            break
    return found
