"""Recall in SQLite: by words ranked with bm25, else by parts of words, else by time."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from services.memory.agents.model import Query, Recalled, Row
from services.memory.agents.rows import COLUMNS, FROM, row_of
from services.memory.agents.words import Word, expression, words_of

_FALLBACK_WORDS = 8
_FALLBACK_ROWS = 20_000
_FEW = 10_000
_RANK = "bm25(memory_words, 0.0, 1.0, 1.0)"  # the agent is matched, and counts for nothing


def recall(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    """Find rows of these agents only, by their ids; superseded rows are never found."""
    if not agents:
        return []
    if not query.has_words:
        return _by_time(connection, agents, query)
    words = words_of(query.text)
    return _by_words(connection, agents, query, words) or _by_parts(connection, agents, query, words)


def _by_words(
    connection: sqlite3.Connection, agents: Sequence[str], query: Query, words: tuple[Word, ...]
) -> list[Recalled]:
    wanted = expression(words)
    if not wanted:
        return []
    match = f"{{key content}} : ({wanted})"
    conditions, values = _filters(query)
    if _are_few(connection, agents):
        owners = " OR ".join(f'"{agent}"' for agent in agents)
        match = f"agent : ({owners}) AND {match}"
    else:  # most of what fits is theirs, and ranking would count every row of theirs first
        conditions.append(f"m.agent IN ({_marks(agents)})")
        values.extend(agents)
    joined = "JOIN memories AS m ON m.number = w.rowid" if conditions else ""
    ranked = (
        f"SELECT w.rowid AS number, {_RANK} AS rank FROM memory_words AS w {joined}"
        f" WHERE memory_words MATCH ? {_and(conditions)} {_shown(agents, query)} ORDER BY rank LIMIT ?"
    )
    withheld = () if query.withheld else tuple(agents)
    sql = f"SELECT {COLUMNS}, r.rank FROM ({ranked}) AS r, {FROM} WHERE m.number = r.number ORDER BY r.rank, m.id"
    found = connection.execute(sql, (match, *values, *withheld, query.limit)).fetchall()
    best = min((row[-1] for row in found), default=0.0)  # bm25 is the better the lower, and below 0
    return [Recalled(row_of(row), row[-1] / best if best < 0 else 1.0) for row in found]


def _are_few(connection: sqlite3.Connection, agents: Sequence[str]) -> bool:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM memories WHERE agent IN ({_marks(agents)}) LIMIT ?)"
    (count,) = connection.execute(sql, (*agents, _FEW + 1)).fetchone()
    return int(count) <= _FEW


def _by_parts(
    connection: sqlite3.Connection, agents: Sequence[str], query: Query, words: tuple[Word, ...]
) -> list[Recalled]:
    """Find words anywhere in the newest rows, as in writing without spaces; a prefix is not looked for inside words."""
    parts = [word.text for word in words if not word.prefix][:_FALLBACK_WORDS]
    if not parts:
        return []
    like = " OR ".join(["m.content LIKE ? ESCAPE '\\' OR m.key LIKE ? ESCAPE '\\'"] * len(parts))
    patterns = [f"%{_escaped(part)}%" for part in parts for _ in range(2)]
    newest = "(SELECT * FROM memories WHERE agent = ? ORDER BY updated_at DESC LIMIT ?)"
    return _newest(connection, agents, query, [f"({like})"], patterns, newest, (_FALLBACK_ROWS,))


def _by_time(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    return _newest(connection, agents, query, [], [])


def _newest(
    connection: sqlite3.Connection,
    agents: Sequence[str],
    query: Query,
    more: list[str],
    values: Sequence[object],
    source: str = "(SELECT * FROM memories WHERE agent = ?)",
    window: Sequence[int] = (),
) -> list[Recalled]:
    """Find rows that meet conditions, the newest first.

    Args:
        connection: Where.
        agents: Whose rows.
        query: What else they have to meet.
        more: Conditions beside those of the query.
        values: For the marks in `more`.
        source: Where an agent's rows come from; the first mark is the agent.
        window: For the other marks in `source`.
    """
    conditions, wanted = _filters(query)
    if not query.withheld:
        conditions.append("NOT m.withheld")
    sql = (
        f"SELECT {COLUMNS} FROM {source} AS m JOIN agents AS a ON a.id = m.agent"
        f" WHERE m.superseded_by = '' {_and([*conditions, *more])} ORDER BY m.updated_at DESC, m.id LIMIT ?"
    )
    found: list[Row] = []
    for agent in agents:
        found.extend(map(row_of, connection.execute(sql, (agent, *window, *wanted, *values, query.limit))))
    found.sort(key=lambda row: (-row.updated_at, row.id))
    return [Recalled(row, 1.0) for row in found[: query.limit]]


def _filters(query: Query) -> tuple[list[str], list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    for condition, wanted in (
        ("m.category = ?", query.category),
        ("m.session = ?", query.session),
        ("m.created_at >= ?", query.since),
        ("m.created_at < ?", query.until),
    ):
        if wanted is not None:
            conditions.append(condition)
            values.append(wanted)
    return conditions, values


def _shown(agents: Sequence[str], query: Query) -> str:
    if query.withheld:
        return ""
    return f"AND w.rowid NOT IN (SELECT number FROM memories WHERE withheld AND agent IN ({_marks(agents)}))"


def _and(conditions: Sequence[str]) -> str:
    return "".join(f" AND {condition}" for condition in conditions)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
