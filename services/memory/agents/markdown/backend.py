"""Agent memory in files of the workspace: MEMORY.md for core rows, a file a day for the others."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import ClassVar, TypeVar

import msgspec

from services.errors import FileConflict, PinfoldError
from services.home import BlockingCalls, FileLock, Home
from services.memory.agents.backend import PAGE, Backend, Cutoffs, Listing, Pruned, RowsByKey, check_left, there
from services.memory.agents.choosing import chosen, newest_first, pruned, too_old
from services.memory.agents.drafting import made_row
from services.memory.agents.markdown.documents import Documents
from services.memory.agents.markdown.folder import Folder
from services.memory.agents.matching import recall
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.screening import Screened

T = TypeVar("T")

_LOCK_SECONDS = 5.0
_TRIES = 3

_log = logging.getLogger(__name__)


class MarkdownBackend(Backend):
    """Rows that people can read and edit; each file is written whole, beside the old one.

    An operation that concerns several days writes several files, and a crash between two of them leaves some rows in
    both; the newer then counts.

    Args:
        home: Where the locks lie.
        calls: Threads for reading and writing files.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of rows.
    """

    name: ClassVar[str] = "markdown"
    batch: ClassVar[int] = 5_000  # each time, whole files are written

    def __init__(self, home: Home, calls: BlockingCalls, now: Callable[[], int], make_id: Callable[[], str]) -> None:
        self._home = home
        self._calls = calls
        self._now = now
        self._make_id = make_id

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row over the one with its key."""

        def change(documents: Documents) -> Row:
            known = documents.rows().get(draft.key)
            row = made_row(owner, draft, screened, known, self._make_id, self._now(), owner.alias)
            documents.put(row)
            return row

        return await self._change(owner, change)

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows of any of these agents, the best first; a sibling whose files cannot be read is left out."""
        return await self._calls.run(lambda: recall(_rows_of_all(owners), query))

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row."""
        return await self._calls.run(lambda: _rows(owner).get(key))

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row."""
        return await self._change(owner, lambda documents: documents.remove({key})) > 0

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session."""

        def change(documents: Documents) -> int:
            return documents.remove({row.key for row in documents.rows().values() if row.session == session})

        return await self._change(owner, change)

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        found = await self._calls.run(_listed, owner, listing)
        return found[listing.offset : listing.offset + listing.limit]

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count rows."""
        return len(await self._calls.run(_listed, owner, listing))

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer."""
        return await self._change(owner, lambda documents: _replace(documents, key, pinned=pinned))

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced."""

        def change(documents: Documents) -> bool:
            other = documents.rows().get(by)
            return other is not None and _replace(documents, key, superseded_by=other.id)

        return await self._change(owner, change)

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete old rows, or only count them."""

        def change(documents: Documents) -> Pruned:
            old = [row for row in documents.rows().values() if too_old(row, cutoffs)]
            documents.remove({row.key for row in old})
            return pruned(old)

        if dry_run:
            return await self._calls.run(lambda: change(_documents(owner)))
        return await self._change(owner, change)

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is, sorted by key."""
        rows = sorted((await self._calls.run(_rows, owner)).values(), key=lambda row: row.key)
        for start in range(0, len(rows), PAGE):
            yield rows[start : start + PAGE]

    async def take_in(self, owner: Owner, rows: Sequence[Row]) -> int:
        """Store rows that were read out."""
        return await self._change(owner, lambda documents: _take_in(documents, owner, rows))

    async def put_back(self, owner: Owner, before: RowsByKey, left: RowsByKey) -> None:
        """Put rows back as they were before a change, compared under the same lock."""

        def change(documents: Documents) -> None:
            check_left(left, documents.rows())
            documents.remove({key for key, row in before.items() if row is None})
            _take_in(documents, owner, there(before))

        await self._change(owner, change)

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent; headings stay."""
        return await self._change(owner, lambda documents: documents.remove(documents.rows().keys()))

    async def rename(self, owner: Owner, alias: str) -> None:
        """Do nothing: the files go with the workspace and do not name the agent."""

    async def _change(self, owner: Owner, change: Callable[[Documents], T]) -> T:
        return await self._calls.run(self._change_now, owner, change)

    def _change_now(self, owner: Owner, change: Callable[[Documents], T]) -> T:
        """Change an agent's files under its lock; starts over when the agent itself wrote one meanwhile."""
        lock = FileLock(self._home.locks_dir / f"memory-{owner.alias}.lock", f"the memory of {owner.alias}")
        lock.acquire(_LOCK_SECONDS)
        tries = _TRIES
        try:
            while True:
                try:
                    return _changed(owner, change)
                except FileConflict:
                    tries -= 1
                    if not tries:
                        raise
        finally:
            lock.release()


def _changed(owner: Owner, change: Callable[[Documents], T]) -> T:
    with Folder.opened(owner.workspace, make=True) as folder:
        assert folder is not None
        documents = Documents(owner.alias, folder.files())
        result = change(documents)
        documents.write_to(folder)
        return result


def _documents(owner: Owner) -> Documents:
    with Folder.opened(owner.workspace, make=False) as folder:
        return Documents(owner.alias, folder.files() if folder else [])


def _rows(owner: Owner) -> dict[str, Row]:
    return _documents(owner).rows()


def _rows_of_all(owners: Sequence[Owner]) -> Iterator[Row]:
    for number, owner in enumerate(owners):
        try:
            yield from _rows(owner).values()
        except PinfoldError as error:
            if number == 0:
                raise
            _log.warning("cannot recall what %s remembers: %s", owner.alias, error)


def _listed(owner: Owner, listing: Listing) -> list[Row]:
    return newest_first(chosen(_rows(owner).values(), listing))


def _take_in(documents: Documents, owner: Owner, rows: Sequence[Row]) -> int:
    known = documents.rows()
    for row in rows:
        mine = known.get(row.key)
        row_id = mine.id if mine else row.id
        documents.put(msgspec.structs.replace(row, id=row_id, agent=owner.alias, agent_id=owner.alias))
    return len(rows)


def _replace(documents: Documents, key: str, **changes: object) -> bool:
    row = documents.rows().get(key)
    if row is not None:
        documents.put(msgspec.structs.replace(row, **changes))
    return row is not None
