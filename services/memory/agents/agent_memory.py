"""One agent's memory: its own rows to change, its own and granted siblings' rows to recall."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from services.errors import InputRefused, MemoryRefused
from services.home import BlockingCalls
from services.memory.agents.backend import Backend, Cutoffs, Listing, Pruned, RowsByKey
from services.memory.agents.hygiene import Retention
from services.memory.agents.model import Draft, Owner, Query, Recalled, Recollection, Row, check_category
from services.memory.agents.upkeep import Upkeep, key_shown
from services.memory.agents.vectors import Likeness
from services.memory.scopes.model import check_key, check_name, shortened
from services.memory.screening import Screening

_WHOLE = Listing()


class AgentMemory:
    """What one agent remembers.

    Args:
        owner: The agent; whatever is stored is its own.
        granted: The siblings whose rows it may also recall.
        backend: Where rows are kept.
        screening: What is done about threats and secrets in what it stores.
        calls: Threads for the scan, which takes some milliseconds for a long text.
        upkeep: Stands by every change; None lets all happen and logs nothing.
        actor: Who changes it, for the log: `operator`, `pinfold` or `agent:<alias>`.
        likeness: Recalls by likeness too, and sees to it that what is stored can be; None where there is no embedder.
    """

    def __init__(
        self,
        owner: Owner,
        granted: Sequence[Owner],
        backend: Backend,
        screening: Screening,
        calls: BlockingCalls,
        upkeep: Upkeep | None = None,
        actor: str = "operator",
        likeness: Likeness | None = None,
    ) -> None:
        self.owner = owner
        self.granted = tuple(sibling for sibling in granted if sibling.alias != owner.alias)
        self.backend = backend
        self.screening = screening
        self._calls = calls
        self._upkeep = upkeep
        self._actor = actor
        self._likeness = likeness

    @property
    def readable(self) -> tuple[str, ...]:
        """The aliases of the agents whose rows it may recall, itself first."""
        return (self.owner.alias, *(sibling.alias for sibling in self.granted))

    async def store(self, draft: Draft) -> Row:
        """Store a row over its own with the same key.

        Raises:
            InputRefused: A part of it is not acceptable, or the scan found what is rejected.
            MemoryRefused: Its memory is in another back-end by now.
            ChangedMeanwhile: Something else is there than `draft.seen`; nothing is stored.
        """
        draft.checked()
        screened = await self._calls.run(self.screening.screen_named, draft.key, draft.content)
        async with self._changing():
            row = await self.backend.store(self.owner, draft, screened)
        self._wake()
        await self._record("store", key_shown(draft.key))
        return row

    async def recall(self, query: Query, agents: Sequence[str] = ()) -> list[Recalled]:
        """Find rows of this agent and of the siblings it may read, the best first.

        Args:
            query: What to find.
            agents: Only rows of these aliases; those it may not read count for nothing. None at all is every agent it
                may read.

        Raises:
            InputRefused: The query cannot be answered.
        """
        return (await self.recollect(query, agents)).found

    async def recollect(self, query: Query, agents: Sequence[str] = ()) -> Recollection:
        """Do what `recall` does, and tell what the operator should know of how it was found.

        Args:
            query: What to find.
            agents: As for `recall`.

        Raises:
            InputRefused: The query cannot be answered.
        """
        query.checked()
        wanted = set(agents) or set(self.readable)
        owners = [owner for owner in (self.owner, *self.granted) if owner.alias in wanted]
        if not owners:
            return Recollection([])
        if self._likeness is not None and query.has_words:
            return await self._likeness.recall(owners, query)
        likeness_wanted = query.has_words and query.search in ("vectors", "hybrid")
        notice = f"Found by words alone: {self.owner.alias} has no embedder." if likeness_wanted else ""
        return Recollection(await self.backend.recall(owners, query), notice)

    async def get(self, key: str, agent: str = "") -> Row | None:
        """Read one row: its own, else the first granted sibling's that has the key.

        Args:
            key: The row's.
            agent: Only this agent's; None is returned for one that it may not read.
        """
        check_key(key)
        for owner in (self.owner, *self.granted):
            if agent in ("", owner.alias) and (row := await self.backend.get(owner, key)):
                return row
        return None

    async def forget(self, key: str) -> bool:
        """Delete one of its own rows; False when nobody it may read has such a key.

        Raises:
            MemoryRefused: Only a sibling has it.
        """
        check_key(key)
        async with self._changing():
            gone = await self.backend.forget(self.owner, key)
        if gone:
            await self._record("forget", key_shown(key))
            return True
        for sibling in self.granted:
            if await self.backend.get(sibling, key):
                raise MemoryRefused(
                    f"{self.owner.alias} cannot forget {shortened(key)}", why=f"it belongs to {sibling.alias}"
                )
        return False

    async def forget_session(self, session: str) -> int:
        """Delete its own rows of a session, and count them."""
        check_name(session, "the session")
        async with self._changing():
            count = await self.backend.forget_session(self.owner, session)
        await self._record("forget_session", f"{count} of the session {shortened(session)}", count)
        return count

    async def listed(self, listing: Listing = _WHOLE) -> list[Row]:
        """Read its own rows, the newest first.

        Raises:
            InputRefused: The listing is not acceptable.
        """
        return await self.backend.listed(self.owner, _checked(listing))

    async def count(self, listing: Listing = _WHOLE) -> int:
        """Count its own rows."""
        return await self.backend.count(self.owner, _checked(listing))

    async def pin(self, key: str, pinned: bool = True) -> bool:
        """Keep one of its own rows from hygiene, or no longer; tell whether it is there."""
        check_key(key)
        async with self._changing():
            found = await self.backend.pin(self.owner, key, pinned)
        await self._record("pin" if pinned else "unpin", key_shown(key), found)
        return found

    async def supersede(self, key: str, by: str) -> bool:
        """Mark one of its own rows as replaced by another, so that it is recalled no more; tell whether both are there.

        Raises:
            InputRefused: A row cannot replace itself.
        """
        if check_key(key) == check_key(by):
            raise InputRefused(f"{shortened(key)} cannot replace itself")
        async with self._changing():
            found = await self.backend.supersede(self.owner, key, by)
        await self._record("supersede", f"{key_shown(key)} by {key_shown(by)}", found)
        return found

    async def tidy(self, retention: Retention, now: int, *, dry_run: bool = False) -> Pruned:
        """Delete its own rows that are older than they are kept, but for pinned ones.

        Args:
            retention: How long rows are kept.
            now: Nanoseconds since 1970.
            dry_run: Only tell what would be deleted.
        """
        cutoffs = Cutoffs({check_category(name): time for name, time in retention.cutoffs(now).items()})
        if dry_run:
            return await self.backend.prune(self.owner, cutoffs, dry_run=True)
        async with self._changing():
            pruned = await self.backend.prune(self.owner, cutoffs, dry_run=False)
        counts = ", ".join(f"{count} {category}" for category, count in sorted(pruned.rows.items()))
        await self._record("hygiene", f"removed {counts}", pruned.total)
        return pruned

    async def purge(self) -> int:
        """Delete all its own rows, and count them."""
        async with self._changing():
            count = await self.backend.purge(self.owner)
            if self._upkeep is not None:
                await self._upkeep.places.leave(self.owner.alias)
        await self._record("purge", str(count), count)
        return count

    async def rename(self, alias: str) -> None:
        """Give its own rows to another alias; done again, it changes nothing.

        Raises:
            MemoryRefused: The other alias has rows of its own.
        """
        async with self._changing():
            await self.backend.rename(self.owner, alias)
            if self._upkeep is not None:
                await self._upkeep.places.rename(self.owner.alias, alias)

    def read_out(self) -> AsyncIterator[Sequence[Row]]:
        """Yield all its own rows as they are, superseded and withheld ones too, page by page."""
        return self.backend.read_out(self.owner)

    async def take_in(self, rows: Sequence[Row]) -> int:
        """Store rows that were read out, as its own, over those with their keys; all or none.

        Raises:
            InputRefused: A row is not acceptable.
        """
        checked = [row.checked() for row in rows]
        async with self._changing():
            count = await self.backend.take_in(self.owner, checked)
        self._wake()
        await self._record("take_in", str(count), count)
        return count

    async def put_back(self, before: RowsByKey, left: RowsByKey, *, anyway: bool = False) -> None:
        """Put its own rows back as they were before a change.

        Args:
            before: What was there under each key.
            left: What the change left there.
            anyway: Also over what somebody stored since.

        Raises:
            ChangedMeanwhile: Somebody did; nothing is put back.
        """
        async with self._changing():
            await self.backend.put_back(self.owner, before, {} if anyway else left)
        self._wake()
        await self._record("put_back", ", ".join(key_shown(key) for key in list(before)[:3]))

    def _wake(self) -> None:
        if self._likeness is not None:
            self._likeness.wake()

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[None]:
        if self._upkeep is None:
            yield
        else:
            async with self._upkeep.changing(self.owner, self.backend.name):
                yield

    async def _record(self, verb: str, detail: str, happened: int = True) -> None:
        """Log a change, unless nothing was there to change."""
        if self._upkeep is not None and happened:
            await self._upkeep.record(verb, self._actor, self.owner.alias, detail)


def _checked(listing: Listing) -> Listing:
    if listing.limit < 0 or listing.offset < 0:
        raise InputRefused("a listing has no negative limit or offset")
    if listing.category is not None:
        check_category(listing.category)
    if listing.session:
        check_name(listing.session, "the session")
    return listing
