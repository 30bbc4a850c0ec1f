"""Agent memory in the home's database."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar

import msgspec

from services.home import Database
from services.memory.agents import rows, searching
from services.memory.agents.backend import PAGE, Backend, Cutoffs, Listing, Pruned, RowsByKey, check_left, there
from services.memory.agents.drafting import made_row
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.agents.vectors import rows as vector_rows
from services.memory.screening import Screened

_PAGE_CHARACTERS = 4 * 1024 * 1024


class SqliteBackend(Backend):
    """Rows of all agents of a home in one table.

    Args:
        database: The home's.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
        has_embedder: Tells by its alias whether an agent's rows are to get vectors.
    """

    name: ClassVar[str] = "sqlite"

    def __init__(
        self,
        database: Database,
        now: Callable[[], int],
        make_id: Callable[[], str],
        has_embedder: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._database = database
        self._now = now
        self._make_id = make_id
        self._has_embedder = has_embedder

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row over the one with its key."""
        embedded = self._has_embedder(owner.alias)

        def job(connection: sqlite3.Connection) -> Row:
            now = self._now()
            agent = rows.sure_agent_id(connection, owner.alias, self._make_id, now)
            known = rows.find(connection, agent, draft.key)
            row = made_row(owner, draft, screened, known, self._make_id, now, agent)
            rows.put(connection, row)
            if embedded:
                vector_rows.mark_due(connection, agent, row.key)
            return row

        return await self._database.write(job)

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows of any of these agents, the best first."""

        def job(connection: sqlite3.Connection) -> list[Recalled]:
            ids = [rows.agent_id(connection, owner.alias) for owner in owners]
            return searching.recall(connection, [agent for agent in ids if agent], query)

        return await self._database.read(job)

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row."""
        return await self._database.read(lambda c: rows.find(c, rows.agent_id(c, owner.alias), key))

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row."""
        return await self._database.write(lambda c: rows.remove(c, rows.agent_id(c, owner.alias), key))

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session."""
        return await self._database.write(lambda c: rows.remove_session(c, rows.agent_id(c, owner.alias), session))

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        return await self._database.read(lambda c: rows.listed(c, rows.agent_id(c, owner.alias), listing))

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count rows."""
        return await self._database.read(lambda c: rows.count(c, rows.agent_id(c, owner.alias), listing))

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer."""
        return await self._database.write(
            lambda c: rows.change(c, rows.agent_id(c, owner.alias), key, "pinned", pinned)
        )

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced."""

        def job(connection: sqlite3.Connection) -> bool:
            agent = rows.agent_id(connection, owner.alias)
            other = rows.find(connection, agent, by)
            return other is not None and rows.change(connection, agent, key, "superseded_by", other.id)

        return await self._database.write(job)

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete old rows, or only count them."""

        def job(connection: sqlite3.Connection) -> Pruned:
            return rows.prune(connection, rows.agent_id(connection, owner.alias), cutoffs, dry_run=dry_run)

        return await (self._database.read(job) if dry_run else self._database.write(job))

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is."""
        after = ""
        while page := await self._page(owner, after):
            yield page
            after = page[-1].key

    async def _page(self, owner: Owner, after: str) -> Sequence[Row]:
        return await self._database.read(
            lambda c: rows.page(c, rows.agent_id(c, owner.alias), after, PAGE, _PAGE_CHARACTERS)
        )

    async def take_in(self, owner: Owner, kept: Sequence[Row]) -> int:
        """Store rows that were read out, with new ids where another agent's rows have theirs."""
        return await self._database.write(lambda connection: self._take_in(connection, owner, kept))

    def _take_in(self, connection: sqlite3.Connection, owner: Owner, kept: Sequence[Row]) -> int:
        embedded = self._has_embedder(owner.alias)
        agent = rows.sure_agent_id(connection, owner.alias, self._make_id, self._now())
        for row in kept:
            known = rows.find(connection, agent, row.key)
            own = row.id if not rows.has_id(connection, row.id) else self._make_id()
            row_id = known.id if known else own
            rows.put(connection, msgspec.structs.replace(row, id=row_id, agent=owner.alias, agent_id=agent))
            if embedded:
                vector_rows.mark_due(connection, agent, row.key)
        return len(kept)

    async def put_back(self, owner: Owner, before: RowsByKey, left: RowsByKey) -> None:
        """Put rows back as they were before a change, compared in the same transaction."""

        def job(connection: sqlite3.Connection) -> None:
            agent = rows.agent_id(connection, owner.alias)
            check_left(left, {key: rows.find(connection, agent, key) for key in left})
            for key, row in before.items():
                if row is None:
                    rows.remove(connection, agent, key)
            self._take_in(connection, owner, there(before))

        await self._database.write(job)

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent, and its id with them."""
        return await self._database.write(lambda c: rows.purge(c, owner.alias))

    async def rename(self, owner: Owner, alias: str) -> None:
        """Give an agent's rows to another alias; they keep their ids."""
        await self._database.write(lambda c: rows.rename(c, owner.alias, alias))
