"""Recall by likeness beside words, out of the home's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.agents import VectorSection
from services.errors import EmbedderUnavailable
from services.home import BlockingCalls, Database
from services.memory.agents import searching
from services.memory.agents.model import Owner, Query, Recalled, Recollection
from services.memory.agents.rows import agent_id
from services.memory.agents.vectors import rows
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.merging import is_relevant, merged
from services.memory.agents.vectors.model import TEXT_LIMIT, Embedded
from services.memory.agents.vectors.rows import Coverage
from services.memory.screening import scan

if TYPE_CHECKING:
    from services.memory.agents.vectors.shelf import Shelf, Shelves

_DEEPER = 2
"""So many times the rows that are asked for are looked at each way before they are merged."""


@dataclass(frozen=True, slots=True)
class _Found:
    found: list[Recalled]
    coverage: Mapping[str, Coverage]


class VectorRecall:
    """Finds rows both ways, with whatever embedder the agent who recalls has.

    Args:
        database: The home's.
        calls: Threads for the scan, and to load what compares vectors.
        embedding: Turns queries into vectors.
    """

    def __init__(self, database: Database, calls: BlockingCalls, embedding: Embedding) -> None:
        self._database = database
        self._calls = calls
        self._embedding = embedding
        self._shelves: Shelves | None = None

    async def recall(self, section: VectorSection, owners: Sequence[Owner], query: Query) -> Recollection:
        """Find rows, the best first; by words alone, and saying so, where the embedder cannot be used.

        Args:
            section: What the file of the agent who recalls says.
            owners: Whose rows.
            query: Has words.
        """
        search = query.search or section.search
        if search == "keywords":
            return Recollection(await self._by_words(owners, query))
        text = query.text[:TEXT_LIMIT]
        if await self._calls.run(_holds_secret, text):
            why = "the query looks like a secret, which no embedder gets"
            return Recollection(await self._by_words(owners, query), f"Found by words alone: {why}.")
        try:
            embedded = await self._embedding.of_query(self._embedding.embedder(section), text)
        except EmbedderUnavailable as error:
            return Recollection(await self._by_words(owners, query), f"Found by words alone: {error}")
        found = await self._both_ways(section, owners, replace(query, search=search, lasting=True), embedded)
        return Recollection(found.found, _notice(section.embedder, found.coverage))

    async def _by_words(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        return await self._database.read(lambda c: searching.recall(c, list(_ids(c, owners).values()), query))

    async def _both_ways(
        self, section: VectorSection, owners: Sequence[Owner], query: Query, embedded: Embedded
    ) -> _Found:
        from services.memory.agents.vectors.shelf import Shelves

        if self._shelves is None:
            self._shelves = Shelves()
        shelves = self._shelves
        for owner in owners:  # page by page, so that other readers get their turn
            while await self._database.read(_filling(shelves, owner, embedded)):
                pass
        return await self._database.read(lambda c: _search(c, shelves, section, owners, query, embedded))


def _holds_secret(text: str) -> bool:
    return any(finding.family == "secret" for finding in scan(text))


def _ids(connection: sqlite3.Connection, owners: Sequence[Owner]) -> dict[str, str]:
    """The ids of agents that have stored something, by their aliases."""
    found = {owner.alias: agent_id(connection, owner.alias) for owner in owners}
    return {alias: agent for alias, agent in found.items() if agent}


def _filling(shelves: Shelves, owner: Owner, embedded: Embedded) -> Callable[[sqlite3.Connection], bool]:
    def job(connection: sqlite3.Connection) -> bool:
        shelf = _shelf(connection, shelves, agent_id(connection, owner.alias), embedded)
        return shelf is not None and shelves.has_room(shelf) and shelf.fill(connection)

    return job


def _shelf(connection: sqlite3.Connection, shelves: Shelves, agent: str, embedded: Embedded) -> Shelf | None:
    space = rows.find_space(connection, embedded.space)
    return shelves.of(agent, space, embedded.space.dimensions) if agent and space else None


def _search(
    connection: sqlite3.Connection,
    shelves: Shelves,
    section: VectorSection,
    owners: Sequence[Owner],
    query: Query,
    embedded: Embedded,
) -> _Found:
    """Find rows both ways in one moment of the database."""
    from services.memory.agents.vectors.nearest import nearest

    ids = _ids(connection, owners)
    space = rows.find_space(connection, embedded.space)
    coverage = {alias: shelves.coverage(connection, agent, space) for alias, agent in ids.items()}
    scores = []
    for alias, agent in ids.items():
        if (shelf := _shelf(connection, shelves, agent, embedded)) is not None:
            shelf.tidy(coverage[alias].here)
            scores.append(shelf.scores(connection, embedded.vectors[0]))
    agents = list(ids.values())
    deeper = replace(query, limit=query.limit * _DEEPER)
    alike = nearest(connection, scores, agents, deeper) if scores else []
    if query.search == "vectors":
        return _Found([one for one in alike if is_relevant(one, section)][: query.limit], coverage)
    keywords = searching.by_words(connection, agents, deeper) if agents else []
    found = merged(keywords, alike, section, query.limit)
    return _Found(found or (searching.by_parts(connection, agents, query) if agents else []), coverage)


def _notice(embedder: str, coverage: Mapping[str, Coverage]) -> str:
    """Say whose memories could not be found by likeness."""
    lacking = {alias: each for alias, each in coverage.items() if each.lacking}
    if not lacking:
        return ""
    counts = ", ".join(f"{each.lacking:,} of {each.memories:,} of {alias}" for alias, each in lacking.items())
    alias = next(iter(lacking))
    said = f"Without a vector of the embedder {embedder}, and found by words alone: {counts}."
    return f"{said} Run: pinfold memory embed {alias}"
