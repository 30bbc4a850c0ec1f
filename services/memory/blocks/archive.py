"""What one tenant put away, to be searched for."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from services.errors import InputRefused
from services.home import Database
from services.memory.agents.model import check_content
from services.memory.agents.words import expression, words_of
from services.memory.blocks.model import ENTRY_LIMIT, ArchiveEntry, Tenant
from services.memory.screening import Screener

SEARCH_LIMIT = 5
_MOST = 1000
_SPARE = 3
"""So many times more entries are looked at for agents, since some of them may be withheld."""

_COLUMNS = "e.id, e.content, e.created_at"


class Archive:
    """The archive entries of one tenant.

    Args:
        tenant: Whose entries; it is in the database.
        database: Where they are kept.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of entries.
        screener: Screens what is put away and what agents find; None lets all through.
    """

    def __init__(
        self,
        tenant: Tenant,
        database: Database,
        now: Callable[[], int],
        make_id: Callable[[], str],
        screener: Screener | None = None,
    ) -> None:
        self.tenant = tenant
        self._database = database
        self._now = now
        self._make_id = make_id
        self._screener = screener

    async def insert(self, content: str) -> ArchiveEntry:
        """Put something away.

        Raises:
            InputRefused: The content is empty, no text or too long, or the scan finds what is rejected.
        """
        check_content(content, ENTRY_LIMIT)
        text = (await self._screener.screen(content)).content if self._screener else content

        def job(connection: sqlite3.Connection) -> ArchiveEntry:
            entry = ArchiveEntry(self._make_id(), text, self._now())
            connection.execute(
                "INSERT INTO archive_entries (id, tenant, owner, content, created_at) VALUES (?, ?, ?, ?, ?)",
                (entry.id, self.tenant.id, self._owner, entry.content, entry.created_at),
            )
            return entry

        return await self._database.write(job)

    async def search_for_agents(self, query: str, limit: int = SEARCH_LIMIT) -> list[ArchiveEntry]:
        """Do as `search`, without entries that may make agents do harm.

        Raises:
            InputRefused: As `search`.
        """
        _check_limit(limit)
        if self._screener is None:
            return await self.search(query, limit)
        found = await self.search(query, min(limit * _SPARE, _MOST))
        withheld = await self._screener.withheld([entry.content for entry in found])
        return [entry for entry, kept_back in zip(found, withheld, strict=True) if not kept_back][:limit]

    async def search(self, query: str, limit: int = SEARCH_LIMIT) -> list[ArchiveEntry]:
        """Find entries by any of some words, the best first; `foo*` is every word that begins so.

        Raises:
            InputRefused: The limit is not from 1 to 1,000, or the query is empty or no text.
        """
        _check_limit(limit)
        check_content(query, ENTRY_LIMIT)
        wanted = expression(words_of(query))
        if not wanted:
            return []
        sql = (
            f"SELECT {_COLUMNS}, bm25(archive_words, 0.0, 1.0) AS rank"
            " FROM archive_words AS w JOIN archive_entries AS e ON e.number = w.rowid"
            " WHERE archive_words MATCH ? ORDER BY rank, e.number DESC LIMIT ?"
        )
        match = f'owner : "{self._owner}" AND content : ({wanted})'
        found = await self._database.read(lambda c: c.execute(sql, (match, limit)).fetchall())
        best = min((rank for *_, rank in found), default=0.0)  # bm25 is the better the lower, and below 0
        return [
            ArchiveEntry(entry_id, content, created_at, rank / best if best < 0 else 1.0)
            for entry_id, content, created_at, rank in found
        ]

    async def entries(self, *, limit: int = 200, offset: int = 0) -> list[ArchiveEntry]:
        """Read entries, the newest first."""
        _check_limit(limit)
        sql = (
            f"SELECT {_COLUMNS} FROM archive_entries AS e WHERE tenant = ?"
            " ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?"
        )
        values = (self.tenant.id, limit, max(offset, 0))
        return await self._database.read(lambda c: [ArchiveEntry(*row) for row in c.execute(sql, values)])

    async def get(self, entry_id: str) -> ArchiveEntry | None:
        """Read one entry."""
        sql = f"SELECT {_COLUMNS} FROM archive_entries AS e WHERE tenant = ? AND id = ?"
        found = await self._database.read(lambda c: c.execute(sql, (self.tenant.id, entry_id)).fetchone())
        return ArchiveEntry(*found) if found else None

    async def delete(self, entry_id: str) -> bool:
        """Delete one of this tenant's entries, and tell whether it was there."""
        sql = "DELETE FROM archive_entries WHERE tenant = ? AND id = ?"
        return await self._database.write(lambda c: c.execute(sql, (self.tenant.id, entry_id)).rowcount > 0)

    async def clear(self) -> int:
        """Delete every entry of this tenant, and count them."""
        sql = "DELETE FROM archive_entries WHERE tenant = ?"
        return await self._database.write(lambda c: c.execute(sql, (self.tenant.id,)).rowcount)

    async def count(self) -> int:
        """Count the entries."""
        sql = "SELECT count(*) FROM archive_entries WHERE tenant = ?"
        (found,) = await self._database.read(lambda c: c.execute(sql, (self.tenant.id,)).fetchone())
        return int(found)

    @property
    def _owner(self) -> str:
        return f"{'n' if self.tenant.id < 0 else 't'}{abs(self.tenant.id)}"


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= _MOST:
        raise InputRefused(f"cannot read {limit} entries", why=f"it is from 1 to {_MOST:,}")
