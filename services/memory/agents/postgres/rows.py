"""Agents' rows on a PostgreSQL server; every function runs inside the caller's transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from services.memory.agents.backend import Cutoffs, Listing, Pruned
from services.memory.agents.model import CORE, Row
from services.memory.agents.postgres.texts import given_back, kept, lexemes

if TYPE_CHECKING:
    from asyncpg import Connection

COLUMNS = (
    "m.id, a.alias, m.agent, m.key, m.content, m.category, m.session, m.importance, m.pinned, m.superseded_by,"
    " m.findings, m.withheld, m.created_at, m.updated_at"
)
FROM = "pinfold.memories AS m JOIN pinfold.agents AS a ON a.id = m.agent"

_PUT = """
INSERT INTO pinfold.memories (id, agent, key_digest, key, content, size, words, category, session, importance, pinned,
                              superseded_by, findings, withheld, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7::text::tsvector, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (agent, key_digest) DO UPDATE SET
    content = excluded.content, size = excluded.size, words = excluded.words, category = excluded.category,
    session = excluded.session, importance = excluded.importance, pinned = excluded.pinned,
    superseded_by = excluded.superseded_by, findings = excluded.findings, withheld = excluded.withheld,
    updated_at = excluded.updated_at
"""


def digest(key: str) -> bytes:
    """What a key is found by."""
    return hashlib.sha256(key.encode()).digest()


async def agent_id(connection: Connection, home: str, alias: str) -> str:
    """Find an agent's id; "" when it has stored nothing yet."""
    found = await connection.fetchval("SELECT id FROM pinfold.agents WHERE home = $1 AND alias = $2", home, alias)
    return found or ""


async def sure_agent_id(connection: Connection, home: str, alias: str, make_id: Callable[[], str], now: int) -> str:
    """Find an agent's id, or give it one."""
    known = await agent_id(connection, home, alias)
    if known:
        return known
    fresh = make_id()
    sql = "INSERT INTO pinfold.agents (id, home, alias, created_at) VALUES ($1, $2, $3, $4)"
    await connection.execute(sql, fresh, home, alias, now)
    return fresh


def row_of(found: Mapping[str, Any]) -> Row:
    """Make a row of a record with `COLUMNS`."""
    return Row(
        id=found["id"],
        agent=found["alias"],
        agent_id=found["agent"],
        key=given_back(found["key"]),
        content=given_back(found["content"]),
        category=found["category"],
        session=given_back(found["session"]),
        importance=found["importance"],
        pinned=found["pinned"],
        superseded_by=given_back(found["superseded_by"]),
        findings=tuple(found["findings"]),
        withheld=found["withheld"],
        created_at=found["created_at"],
        updated_at=found["updated_at"],
    )


async def find(connection: Connection, agent: str, key: str) -> Row | None:
    """Read one row."""
    sql = f"SELECT {COLUMNS} FROM {FROM} WHERE m.agent = $1 AND m.key_digest = $2"
    found = await connection.fetchrow(sql, agent, digest(key))
    return row_of(found) if found else None


async def put(connection: Connection, rows: Sequence[Row]) -> None:
    """Store rows; one with its key keeps its `id` and `created_at`."""
    values = [
        (
            kept(row.id),
            row.agent_id,
            digest(row.key),
            kept(row.key),
            kept(row.content),
            len(row.content.encode()),
            "" if row.superseded_by else lexemes(row.key, row.content),
            row.category,
            kept(row.session),
            row.importance,
            row.pinned,
            kept(row.superseded_by),
            list(row.findings),
            row.withheld,
            row.created_at,
            row.updated_at,
        )
        for row in rows
    ]
    await connection.executemany(_PUT, values)


async def listed(connection: Connection, agent: str, listing: Listing) -> list[Row]:
    """Read rows, the newest first."""
    where, values = _where(agent, listing)
    sql = f"SELECT {COLUMNS} FROM {FROM} WHERE {where} ORDER BY m.updated_at DESC, m.id"
    found = await connection.fetch(f"{sql} LIMIT {int(listing.limit)} OFFSET {int(listing.offset)}", *values)
    return [row_of(one) for one in found]


async def count(connection: Connection, agent: str, listing: Listing) -> int:
    """Count the rows of a listing."""
    where, values = _where(agent, listing)
    return int(await connection.fetchval(f"SELECT count(*) FROM pinfold.memories AS m WHERE {where}", *values))


def _where(agent: str, listing: Listing) -> tuple[str, list[object]]:
    conditions, values = ["m.agent = $1"], [agent]
    if not listing.superseded:
        conditions.append("m.superseded_by = ''")
    if listing.category is not None:
        values.append(listing.category)
        conditions.append(f"m.category = ${len(values)}")
    if listing.session is not None:
        values.append(kept(listing.session))
        conditions.append(f"m.session = ${len(values)}")
    return " AND ".join(conditions), [*values]


async def deleted(connection: Connection, where: str, *values: object) -> int:
    """Delete rows, and count them."""
    status = await connection.execute(f"DELETE FROM pinfold.memories WHERE {where}", *values)
    return affected(status)


def affected(status: str) -> int:
    """How many rows a command was about, of its answer such as `DELETE 3`."""
    return int(status.rpartition(" ")[2])


async def prune(connection: Connection, agent: str, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
    """Delete what is older than the cutoffs and not pinned, or only count it."""
    counts: dict[str, int] = {}
    size = 0
    for category, cutoff in cutoffs.times.items():
        time = "created_at" if category == CORE else "updated_at"
        where = f"agent = $1 AND category = $2 AND {time} < $3 AND NOT pinned"
        sql = f"SELECT count(*) AS rows, coalesce(sum(size), 0)::bigint AS size FROM pinfold.memories WHERE {where}"
        found = await connection.fetchrow(sql, agent, category, cutoff)
        if found["rows"]:
            counts[category] = found["rows"]
            size += found["size"]
        if not dry_run:
            await deleted(connection, where, agent, category, cutoff)
    return Pruned(counts, size)
