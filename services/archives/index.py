"""The index of archives in the database: what vouches for their manifests, and what is left of purged ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from services.activity import ActivityGrew, ActivityLog, Draft, Events
from services.archives.model import ArchiveDraft, ArchiveKind, ArchiveState
from services.home import Database

_COLUMNS = "id, alias, uuid, kind, state, created_at, size, manifest, verified_at, intact"


@dataclass(frozen=True)
class Indexed:
    """What the index has of an archive.

    Attributes:
        state: Unsealed, sealed or purged.
        created_at: Nanoseconds since 1970.
        size: Bytes of all its files.
        manifest: SHA-256 of its manifest; "" until it is sealed.
        verified_at: Nanoseconds since 1970.
    """

    id: str
    alias: str
    uuid: str
    kind: ArchiveKind
    state: ArchiveState
    created_at: int
    size: int
    manifest: str
    verified_at: int | None
    intact: bool | None


class Index:
    """The index of a home's archives.

    Args:
        database: Where it is.
        activity: Told of what is purged and of what is found damaged.
        events: Told when activity grew.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, activity: ActivityLog, events: Events, now: Callable[[], int]) -> None:
        self._database = database
        self._activity = activity
        self._events = events
        self._now = now

    async def begin(self, archive: str, draft: ArchiveDraft, at: int) -> bool:
        """Note an archive that is being made; False when there was one of this id."""
        sql = (
            "INSERT INTO archives (id, alias, uuid, kind, state, created_at) VALUES (?, ?, ?, ?, 'unsealed', ?)"
            " ON CONFLICT DO NOTHING"
        )
        values = (archive, draft.alias, draft.uuid, draft.kind.value, at)
        return await self._database.write(lambda c: c.execute(sql, values).rowcount > 0)

    async def seal(self, archive: str, manifest: str, size: int) -> None:
        """Note that an archive is complete."""
        sql = "UPDATE archives SET state = 'sealed', manifest = ?, size = ? WHERE id = ? AND state = 'unsealed'"
        await self._database.write(lambda c: c.execute(sql, (manifest, size, archive)))

    async def forget(self, archive: str) -> None:
        """Remove the row of an archive that was never sealed."""
        sql = "DELETE FROM archives WHERE id = ? AND state = 'unsealed'"
        await self._database.write(lambda c: c.execute(sql, (archive,)))

    async def find(self, archive: str) -> Indexed | None:
        """Read one row."""
        sql = f"SELECT {_COLUMNS} FROM archives WHERE id = ?"
        row = await self._database.read(lambda c: c.execute(sql, (archive,)).fetchone())
        return _indexed(row) if row else None

    async def all(self) -> dict[str, Indexed]:
        """Read every row, by id."""
        sql = f"SELECT {_COLUMNS} FROM archives"
        rows = await self._database.read(lambda c: c.execute(sql).fetchall())
        return {row[0]: _indexed(row) for row in rows}

    async def rename(self, alias: str, new: str) -> int:
        """Give an agent's rows to its new alias, and count them."""
        sql = "UPDATE archives SET alias = ? WHERE alias = ?"
        return await self._database.write(lambda c: c.execute(sql, (new, alias)).rowcount)

    async def verified(self, archive: str, alias: str, at: int, findings: int) -> None:
        """Note what verifying found; one that is not in the index is told of in activity only."""
        detail = f"{archive}: {findings:,} findings" if findings else f"{archive}: intact"
        draft = Draft("archive.verify", agent=alias, outcome="failed" if findings else "done", detail=detail)

        def job(connection: sqlite3.Connection) -> None:
            sql = "UPDATE archives SET verified_at = ?, intact = ? WHERE id = ?"
            connection.execute(sql, (at, not findings, archive))
            self._activity.append(connection, draft)

        await self._database.write(job)
        self._events.publish(ActivityGrew())

    async def purged(self, archive: str, alias: str, actor: str, detail: str) -> None:
        """Keep a row as the tombstone of an archive, and tell activity."""
        draft = Draft("archive.purge", actor=actor, agent=alias, detail=detail)

        def job(connection: sqlite3.Connection) -> None:
            sql = "UPDATE archives SET state = 'purged', purged_at = ? WHERE id = ?"
            connection.execute(sql, (self._now(), archive))
            self._activity.append(connection, draft)

        await self._database.write(job)
        self._events.publish(ActivityGrew())


def _indexed(row: tuple[str, str, str, str, str, int, int, str, int | None, int | None]) -> Indexed:
    id, alias, uuid, kind, state, created_at, size, manifest, verified_at, intact = row
    return Indexed(
        id,
        alias,
        uuid,
        ArchiveKind(kind),
        ArchiveState(state),
        created_at,
        size,
        manifest,
        verified_at,
        None if intact is None else bool(intact),
    )
