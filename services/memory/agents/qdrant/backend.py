"""Agent memory as points of a Qdrant collection, which several homes may share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

import msgspec

from services.agents import QdrantStore
from services.errors import LockHeld, MemoryRefused, MemoryUnavailable
from services.home import BlockingCalls, FileLock, Home
from services.memory.agents.backend import PAGE, Backend, BackendStatus, Cutoffs, Listing, Pruned
from services.memory.agents.choosing import chosen, newest_first, pruned, too_old
from services.memory.agents.drafting import made_row
from services.memory.agents.matching import recall
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.agents.qdrant.collection import Collection, Connect, connected_to
from services.memory.agents.qdrant.points import digest, payload_of, row_of
from services.memory.screening import Screened

if TYPE_CHECKING:
    from qdrant_client.models import Record

_LOCK_SECONDS = 10.0
_PAUSE = 0.02


class QdrantBackend(Backend):
    """Rows of the agents of one home, found by their words; they have no vectors.

    The server has no transactions, so whoever changes an agent's rows holds a lock of the home meanwhile.

    Args:
        home: Whose agents; its id keeps them apart from those of other homes on the same server.
        settings: Says where the server is; asked for every operation.
        env: Where its key is looked up.
        calls: Threads.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of rows and points: 32 hex digits.
        connect: Makes the client.
    """

    name: ClassVar[str] = "qdrant"

    def __init__(
        self,
        home: Home,
        settings: Callable[[], QdrantStore],
        env: Mapping[str, str],
        calls: BlockingCalls,
        now: Callable[[], int],
        make_id: Callable[[], str],
        connect: Connect = connected_to,
    ) -> None:
        self._home = home
        self._identity = ""
        self._collection = Collection(settings, env, calls, connect)
        self._calls = calls
        self._now = now
        self._make_id = make_id

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row over the one with its key."""
        async with self._alone(owner.alias):
            points = await self._points(owner, key_digest=digest(draft.key))
            there = row_of(points[0].payload) if points else None
            row = made_row(owner, draft, screened, there, self._make_id, self._now(), owner.alias)
            await self._put([row], points)
        return row

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows of any of these agents, the best first."""
        wanted: dict[str, object] = {"home": await self._known_home(), "agent": [owner.alias for owner in owners]}
        if query.category is not None:
            wanted["category"] = query.category
        points = await self._collection.found(superseded_by="", **wanted)
        return await self._calls.run(lambda: recall([row_of(point.payload) for point in points], query))

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row."""
        points = await self._points(owner, key_digest=digest(key))
        return row_of(points[0].payload) if points else None

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row."""
        async with self._alone(owner.alias):
            points = await self._points(owner, key_digest=digest(key))
            await self._collection.delete(points)
        return bool(points)

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session."""
        return len(await self._remove(owner, lambda row: row.session == session))

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        found = newest_first(chosen(await self._rows(owner), listing))
        return found[listing.offset : listing.offset + listing.limit]

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count rows."""
        wanted = {name: value for name in ("category", "session") if (value := getattr(listing, name)) is not None}
        if not listing.superseded:
            wanted["superseded_by"] = ""
        return await self._collection.count(home=await self._known_home(), agent=owner.alias, **wanted)

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer."""
        return await self._set(owner, key, {"pinned": pinned})

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced."""
        other = await self.get(owner, by)
        return other is not None and await self._set(owner, key, {"superseded_by": other.id})

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete old rows, or only count them."""
        if dry_run:
            return pruned(row for row in await self._rows(owner) if too_old(row, cutoffs))
        return pruned(await self._remove(owner, lambda row: too_old(row, cutoffs)))

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is, sorted by key."""
        rows = sorted(await self._rows(owner), key=lambda row: row.key)
        for start in range(0, len(rows), PAGE):
            yield rows[start : start + PAGE]

    async def take_in(self, owner: Owner, rows: Sequence[Row]) -> int:
        """Store rows that were read out, in one request; those with the keys of rows here keep these rows' ids."""
        async with self._alone(owner.alias):
            points = await self._points(owner, key_digest=[digest(row.key) for row in rows]) if rows else []
            await self._put(rows, points, owner)
        return len(rows)

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent."""
        return len(await self._remove(owner, lambda _: True))

    async def rename(self, owner: Owner, alias: str) -> None:
        """Give an agent's rows to another alias in one request."""
        async with self._alone(owner.alias), self._alone(alias):
            home = await self._known_home()
            if owner.alias == alias or not await self._collection.count(home=home, agent=owner.alias):
                return
            if await self._collection.count(home=home, agent=alias):
                raise MemoryRefused(
                    f"{owner.alias} cannot be renamed to {alias}",
                    why=f"{alias} has memories of its own",
                    fix="Move those away first.",
                )
            await self._collection.change({"agent": alias, "agent_id": alias}, home=home, agent=owner.alias)

    async def status(self) -> BackendStatus:
        """Count the points."""
        try:
            await self._collection.count()
        except MemoryUnavailable as error:
            return BackendStatus.of(self.name, error, self._collection.address)
        return BackendStatus(self.name, True, self._collection.address)

    async def close(self) -> None:
        """Close the connection."""
        await self._collection.close()

    async def _points(self, owner: Owner, **wanted: object) -> list[Record]:
        return await self._collection.found(home=await self._known_home(), agent=owner.alias, **wanted)

    async def _rows(self, owner: Owner) -> list[Row]:
        return [row_of(point.payload) for point in await self._points(owner)]

    async def _put(self, rows: Sequence[Row], points: Sequence[Record], owner: Owner | None = None) -> None:
        """Store rows, over those of the points that have their keys."""
        home = await self._known_home()
        there = {row_of(point.payload).key: point for point in points}
        payloads = {}
        for row in rows:
            point = there.get(row.key)
            if owner is not None:
                row_id = row_of(point.payload).id if point else row.id
                row = msgspec.structs.replace(row, id=row_id, agent=owner.alias, agent_id=owner.alias)
            payloads[str(point.id) if point else self._make_id()] = payload_of(row, home)
        await self._collection.put(payloads)

    async def _set(self, owner: Owner, key: str, values: Mapping[str, object]) -> bool:
        async with self._alone(owner.alias):
            points = await self._points(owner, key_digest=digest(key))
            if points:
                wanted = {"home": await self._known_home(), "agent": owner.alias, "key_digest": digest(key)}
                await self._collection.change(values, **wanted)
        return bool(points)

    async def _remove(self, owner: Owner, fits: Callable[[Row], bool]) -> list[Row]:
        async with self._alone(owner.alias):
            points = [(point, row_of(point.payload)) for point in await self._points(owner)]
            gone = [(point, row) for point, row in points if fits(row)]
            await self._collection.delete([point for point, _ in gone])
        return [row for _, row in gone]

    @asynccontextmanager
    async def _alone(self, alias: str) -> AsyncIterator[None]:
        """Hold the lock of an agent's memory."""
        lock = FileLock(self._home.locks_dir / f"memory-{alias}.lock", f"the memory of {alias}")
        try:
            async with asyncio.timeout(_LOCK_SECONDS):
                while not lock.try_acquire():  # noqa: ASYNC110 - another process tells nobody
                    await asyncio.sleep(_PAUSE)
        except TimeoutError as error:
            raise LockHeld(f"{lock.what} is in use", why="another Pinfold changes it", fix="Try again.") from error
        try:
            yield
        finally:
            lock.release()

    async def _known_home(self) -> str:
        if not self._identity:
            self._identity = await self._calls.run(self._home.identity)
        return self._identity
