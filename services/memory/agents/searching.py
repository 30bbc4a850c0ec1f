"""Recall in SQLite: by words ranked with bm25, else by parts of words, else by time."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence

from services.memory.agents.model import CORE, DAILY, Query, Recalled, Row
from services.memory.agents.rows import COLUMNS, FROM, row_of
from services.memory.agents.words import Word, expression, phrase, words_of

_FALLBACK_WORDS = 8
_FALLBACK_ROWS = 20_000
_RANKED = 8_000
"""The most rows that are ranked, each of which is read: words that more have tell little, and their newest rows do."""

_WINDOW = 50_000
"""The most rows with common words that are looked through for those that meet the other conditions."""
_RANK = "bm25(memory_words, 0.0, 1.0, 1.0)"  # the agent is matched, and counts for nothing


def recall(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    """Find rows of these agents only, by their ids; superseded rows are never found."""
    if not agents:
        return []
    if not query.has_words:
        return _by_time(connection, agents, query)
    return by_words(connection, agents, query) or by_parts(connection, agents, query)


def by_words(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    """Rank what has any of the words; of many that fit, only those with a rare one, and the newest of the others."""
    known = tuple(word for word in words_of(query.text) if word.parts)
    if not known:
        return []
    finding = _Finding(connection, agents, query, few=_are_few(connection, agents))
    if finding.few or finding.count(known) <= _RANKED:
        return finding.ranked(known)
    found = finding.ranked(rare) if (rare := finding.rare_of(known)) else []
    score = 0.0 if found else 1.0
    for every in (True, False):
        if len(found) < query.limit:
            there = {one.row.id for one in found}
            newest = finding.newest(known, every=every)
            found += [Recalled(row, score) for row in newest if row.id not in there]
    return found[: query.limit]


class _Finding:
    """Finds rows of some agents by words.

    Args:
        connection: Where.
        agents: Whose rows, by id.
        query: What else they have to meet.
        few: Whether these agents have few rows.
    """

    def __init__(self, connection: sqlite3.Connection, agents: Sequence[str], query: Query, *, few: bool) -> None:
        self.few = few
        self._connection = connection
        self._agents = agents
        self._query = query
        self._conditions, self._values = filters(query)
        owners = " OR ".join(f'"{agent}"' for agent in agents)
        self._theirs = f"agent : ({owners}) AND "

    def count(self, words: Sequence[Word]) -> int:
        """Count rows with any of the words, of all agents where these have many; stops at too many to rank."""
        sql = "SELECT count(*) FROM (SELECT 1 FROM memory_words WHERE memory_words MATCH ? LIMIT ?)"
        (count,) = self._connection.execute(sql, (self._match(expression(words), self.few), _RANKED + 1)).fetchone()
        return int(count)

    def rare_of(self, words: Sequence[Word]) -> tuple[Word, ...]:
        """Choose the rarest of the words, as many as may be ranked."""
        counts = sorted(((self.count([word]), place) for place, word in enumerate(words)))
        sums = itertools.accumulate(count for count, _ in counts)
        return tuple(words[place] for (_, place), total in zip(counts, sums, strict=True) if total <= _RANKED)

    def ranked(self, words: Sequence[Word]) -> list[Recalled]:
        """Find the best by bm25, each judged beside the best of all."""
        conditions, values = list(self._conditions), list(self._values)
        if not self.few:  # ranking would count every row of theirs first
            conditions.append(f"m.agent IN ({_marks(self._agents)})")
            values.extend(self._agents)
        joined = "JOIN memories AS m ON m.number = w.rowid" if conditions else ""
        ranked = (
            f"SELECT w.rowid AS number, {_RANK} AS rank FROM memory_words AS w {joined}"
            f" WHERE memory_words MATCH ? {_and(conditions)} {self._shown} ORDER BY rank LIMIT ?"
        )
        sql = f"SELECT {COLUMNS}, r.rank FROM ({ranked}) AS r, {FROM} WHERE m.number = r.number ORDER BY r.rank, m.id"
        match = self._match(expression(words), self.few)
        found = self._connection.execute(sql, (match, *values, *self._withheld, self._query.limit)).fetchall()
        best = min((row[-1] for row in found), default=0.0)  # bm25 is the better the lower, and below 0
        return [Recalled(row_of(row), row[-1] / best if best < 0 else 1.0) for row in found]

    def newest(self, words: Sequence[Word], *, every: bool) -> list[Row]:
        """Find the rows stored last that have every word, or any."""
        window = (
            f"SELECT w.rowid AS number FROM memory_words AS w WHERE memory_words MATCH ? {self._shown}"
            " ORDER BY w.rowid DESC LIMIT ?"
        )
        sql = (
            f"SELECT {COLUMNS} FROM ({window}) AS r, {FROM} WHERE m.number = r.number {_and(self._conditions)}"
            " ORDER BY r.number DESC LIMIT ?"
        )
        match = self._match((" AND " if every else " OR ").join(map(phrase, words)), True)
        size = _WINDOW if self._conditions else self._query.limit
        values = (match, *self._withheld, size, *self._values, self._query.limit)
        return [row_of(row) for row in self._connection.execute(sql, values)]

    def _match(self, wanted: str, theirs: bool) -> str:
        return f"{self._theirs if theirs else ''}{{key content}} : ({wanted})"

    @property
    def _shown(self) -> str:
        if self._query.withheld:
            return ""
        withheld = f"SELECT number FROM memories WHERE withheld AND agent IN ({_marks(self._agents)})"
        return f"AND w.rowid NOT IN ({withheld})"

    @property
    def _withheld(self) -> tuple[str, ...]:
        return () if self._query.withheld else tuple(self._agents)


def _are_few(connection: sqlite3.Connection, agents: Sequence[str]) -> bool:
    sql = f"SELECT count(*) FROM (SELECT 1 FROM memories WHERE agent IN ({_marks(agents)}) LIMIT ?)"
    (count,) = connection.execute(sql, (*agents, _RANKED + 1)).fetchone()
    return int(count) <= _RANKED


def by_parts(connection: sqlite3.Connection, agents: Sequence[str], query: Query) -> list[Recalled]:
    """Find words anywhere in the newest rows, as in writing without spaces; a prefix is not looked for inside words."""
    parts = [word.text for word in words_of(query.text) if not word.prefix][:_FALLBACK_WORDS]
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
    conditions, wanted = filters(query)
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


def filters(query: Query) -> tuple[list[str], list[object]]:
    """Write the conditions of a query beside its words, with the values for their marks."""
    lasting = f"m.session = '' AND m.category IN ('{CORE}', '{DAILY}')"
    conditions: list[str] = []
    values: list[object] = []
    for condition, wanted in (
        ("m.category = ?", query.category),
        (f"(m.session = ? OR {lasting})" if query.lasting else "m.session = ?", query.session),
        ("m.created_at >= ?", query.since),
        ("m.created_at < ?", query.until),
    ):
        if wanted is not None:
            conditions.append(condition)
            values.append(wanted)
    return conditions, values


def _and(conditions: Sequence[str]) -> str:
    return "".join(f" AND {condition}" for condition in conditions)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
