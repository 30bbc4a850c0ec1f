"""Agent memory that the lucid program also knows: a mirror in SQLite holds the rows, the program helps to find them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from services.agents import LucidStore
from services.errors import MemoryUnavailable
from services.home import Database, Home
from services.memory.agents.backend import Backend, BackendStatus, Cutoffs, Listing, Pruned, RowsByKey
from services.memory.agents.lucid.program import Program, told
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.agents.sqlite import SqliteBackend
from services.memory.agents.words import words_of
from services.memory.screening import Screened

_ENOUGH = 3
_LOOK_ALIKES = 5
_LESS = 0.5
"""How a row that only the program found is scored beside the worst that the mirror found."""


class LucidBackend(Backend):
    """Rows in a mirror, `state/lucid.db`.

    What the program finds counts only as far as the mirror has it, so that rows which were forgotten, replaced or
    withheld do not come back, and another agent's never come. It learns of rows when they are stored here, not when
    they are taken in from elsewhere. Storing, and recall by words, raise `MemoryUnavailable` where it is not installed.

    Args:
        home: Where the mirror lies.
        settings: Says what the program is called; asked for every call.
        env: Where it is looked for.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
        seconds: A clock that never goes back.
    """

    name: ClassVar[str] = "lucid"

    def __init__(
        self,
        home: Home,
        settings: Callable[[], LucidStore],
        env: Mapping[str, str],
        now: Callable[[], int],
        make_id: Callable[[], str],
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = home.state_dir / "lucid.db"
        self._program = Program(settings, env, seconds)
        self._now = now
        self._make_id = make_id
        self._database: Database | None = None
        self._opening = asyncio.Lock()

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row in the mirror, then tell the program."""
        assert self._program.path
        row = await (await self._mirror()).store(owner, draft, screened)
        if not row.findings:
            await self._program.store(row, owner.workspace)
        return row

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows in the mirror and, where these are few and one agent's, also with the program."""
        mirror = await self._mirror()
        if not query.has_words:
            return await mirror.recall(owners, query)
        assert self._program.path
        found = await mirror.recall(owners, query)
        if len(owners) > 1 or len(found) >= min(_ENOUGH, query.limit):
            return found
        known = {recalled.row.id for recalled in found}
        score = min((recalled.score for recalled in found), default=1 / _LESS) * _LESS
        for hit in await self._program.hits(query.text, owners[0].workspace):
            row = await self._row_of(mirror, owners[0], query, hit)
            if row is not None and row.id not in known and len(found) < query.limit:
                known.add(row.id)
                found.append(Recalled(row, score))
        return found

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row."""
        return await (await self._mirror()).get(owner, key)

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row from the mirror; the program keeps it, and is not believed."""
        return await (await self._mirror()).forget(owner, key)

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session."""
        return await (await self._mirror()).forget_session(owner, session)

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        return await (await self._mirror()).listed(owner, listing)

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count rows."""
        return await (await self._mirror()).count(owner, listing)

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer."""
        return await (await self._mirror()).pin(owner, key, pinned)

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced."""
        return await (await self._mirror()).supersede(owner, key, by)

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete old rows, or only count them."""
        return await (await self._mirror()).prune(owner, cutoffs, dry_run=dry_run)

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is."""
        async for page in (await self._mirror()).read_out(owner):
            yield page

    async def take_in(self, owner: Owner, rows: Sequence[Row]) -> int:
        """Store rows that were read out in the mirror."""
        return await (await self._mirror()).take_in(owner, rows)

    async def put_back(self, owner: Owner, before: RowsByKey, left: RowsByKey) -> None:
        """Put rows of the mirror back as they were before a change."""
        await (await self._mirror()).put_back(owner, before, left)

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent from the mirror."""
        return await (await self._mirror()).purge(owner)

    async def rename(self, owner: Owner, alias: str) -> None:
        """Give an agent's rows to another alias."""
        await (await self._mirror()).rename(owner, alias)

    async def status(self) -> BackendStatus:
        """Ask the program for its version."""
        try:
            return BackendStatus(self.name, True, f"{self._program.path} {await self._program.version()}".rstrip())
        except MemoryUnavailable as error:
            return BackendStatus.of(self.name, error)

    async def close(self) -> None:
        """Close the mirror."""
        database, self._database = self._database, None
        if database is not None:
            await database.close()

    async def _mirror(self) -> SqliteBackend:
        async with self._opening:
            if self._database is None:
                database = Database(self._file)
                await database.open()
                self._database = database
            return SqliteBackend(self._database, self._now, self._make_id)

    @staticmethod
    async def _row_of(mirror: SqliteBackend, owner: Owner, query: Query, hit: str) -> Row | None:
        """Find the row that a hit is the beginning of, or whose words it repeats."""
        alike = await mirror.recall([owner], replace(query, text=hit, limit=_LOOK_ALIKES))
        words = {part for word in words_of(hit) for part in word.parts}
        for recalled in alike:
            text = told(recalled.row)
            if text.startswith(hit) or words <= {part for word in words_of(text) for part in word.parts}:
                return recalled.row
        return None
