"""Recall on a PostgreSQL server: by words ranked, else by parts of words, else by time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from services.memory.agents.model import Query, Recalled
from services.memory.agents.postgres.rows import COLUMNS, FROM, row_of
from services.memory.agents.postgres.texts import kept, pattern_of, search_for
from services.memory.agents.words import Word, words_of

if TYPE_CHECKING:
    from asyncpg import Connection

_FALLBACK_WORDS = 8
_FALLBACK_ROWS = 20_000


class _Conditions:
    """Conditions with the values for their marks.

    Args:
        agents: Whose rows.
        query: What else they have to meet.
    """

    def __init__(self, agents: Sequence[str], query: Query) -> None:
        self.values: list[object] = [list(agents)]
        self.all = ["m.agent = ANY($1)", "m.superseded_by = ''"]
        if not query.withheld:
            self.all.append("NOT m.withheld")
        for condition, wanted in (
            ("m.category = {}", query.category),
            ("m.session = {}", None if query.session is None else kept(query.session)),
            ("m.created_at >= {}", query.since),
            ("m.created_at < {}", query.until),
        ):
            if wanted is not None:
                self.add(condition, wanted)

    def add(self, condition: str, value: object) -> str:
        """Add a condition with one mark, and return the mark."""
        self.values.append(value)
        mark = f"${len(self.values)}"
        self.all.append(condition.format(mark))
        return mark

    def __str__(self) -> str:
        return " AND ".join(self.all)


async def recall(connection: Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    """Find rows of these agents only, by their ids; superseded rows are never found."""
    if not agents:
        return []
    if not query.has_words:
        return await _newest(connection, _Conditions(agents, query), query.limit)
    words = words_of(query.text)
    found = await _by_words(connection, agents, query, words)
    return found or await _by_parts(connection, agents, query, words)


async def _by_words(
    connection: Connection, agents: Sequence[str], query: Query, words: tuple[Word, ...]
) -> list[Recalled]:
    wanted = search_for(words)
    if not wanted:
        return []
    conditions = _Conditions(agents, query)
    mark = conditions.add("m.words @@ {}::text::tsquery", wanted)
    rank = f"ts_rank(m.words, {mark}::text::tsquery)"
    sql = f"SELECT {COLUMNS}, {rank} AS rank FROM {FROM} WHERE {conditions} ORDER BY rank DESC, m.id"
    found = await connection.fetch(f"{sql} LIMIT {int(query.limit)}", *conditions.values)
    best = max((one["rank"] for one in found), default=0.0)
    return [Recalled(row_of(one), one["rank"] / best if best > 0 else 1.0) for one in found]


async def _by_parts(
    connection: Connection, agents: Sequence[str], query: Query, words: tuple[Word, ...]
) -> list[Recalled]:
    """Find words anywhere in the newest rows, as in writing without spaces; a prefix is not looked for inside words."""
    parts = [word.text for word in words if not word.prefix][:_FALLBACK_WORDS]
    if not parts:
        return []
    conditions = _Conditions(agents, query)
    conditions.add("(m.key ILIKE ANY({0}) OR m.content ILIKE ANY({0}))", [pattern_of(part) for part in parts])
    newest = f"(SELECT * FROM pinfold.memories WHERE agent = ANY($1) ORDER BY updated_at DESC LIMIT {_FALLBACK_ROWS})"
    return await _newest(connection, conditions, query.limit, newest)


async def _newest(
    connection: Connection, conditions: _Conditions, limit: int, source: str = "pinfold.memories"
) -> list[Recalled]:
    sql = f"SELECT {COLUMNS} FROM {source} AS m JOIN pinfold.agents AS a ON a.id = m.agent WHERE {conditions}"
    found = await connection.fetch(f"{sql} ORDER BY m.updated_at DESC, m.id LIMIT {int(limit)}", *conditions.values)
    return [Recalled(row_of(one), 1.0) for one in found]
