"""What every back-end of agent memory does; one suite of tests holds them to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import ClassVar, Protocol

import msgspec

from services.errors import PinfoldError
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.scopes.model import changed_meanwhile
from services.memory.screening import Screened

PAGE = 200

RowsByKey = Mapping[str, Row | None]
"""Rows of one agent by their keys; None where there is none."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows to list.

    Attributes:
        category: Only this one; None is all.
        session: Only rows of this session; None is all.
        superseded: Also rows that were replaced.
        limit: At most so many.
        offset: Leave out so many from the start.
    """

    category: str | None = None
    session: str | None = None
    superseded: bool = False
    limit: int = PAGE
    offset: int = 0


class Cutoffs(msgspec.Struct, frozen=True):
    """From when on rows are kept, nanoseconds since 1970, by category; a category not named is kept whole.

    A core row's time is when it was created, any other's when it was last stored.
    """

    times: Mapping[str, int]


class Pruned(msgspec.Struct, frozen=True):
    """What hygiene removed, or would remove.

    Attributes:
        rows: By category.
        size: Bytes of their content.
    """

    rows: Mapping[str, int]
    size: int

    @property
    def total(self) -> int:
        """How many rows in all."""
        return sum(self.rows.values())


class BackendStatus(msgspec.Struct, frozen=True):
    """Whether a back-end answers.

    Attributes:
        name: The back-end.
        usable: Whether memories can be stored and recalled.
        detail: What it is and where, without a secret.
        problem: Why it does not answer; "" when it does.
        fix: What the operator can do, "" when there is nothing.
    """

    name: str
    usable: bool
    detail: str = ""
    problem: str = ""
    fix: str = ""

    @classmethod
    def of(cls, name: str, error: PinfoldError, detail: str = "") -> BackendStatus:
        """What an error says of a back-end."""
        return cls(name, False, detail, f"{error.what}: {error.why}" if error.why else error.what, error.fix)


def check_left(left: RowsByKey, found: RowsByKey) -> None:
    """Return if a change can be taken back.

    Raises:
        ChangedMeanwhile: What is found is not what the change left.
    """
    for key, row in left.items():
        if found.get(key) != row:
            raise changed_meanwhile(key)


def there(rows: RowsByKey) -> list[Row]:
    """Those rows that there are."""
    return [row for row in rows.values() if row is not None]


class Backend(Protocol):
    """Rows of agents, somewhere.

    Every operation is whole or not done, and on disk once it returns. Whoever calls it has checked what it is given and
    whom it is for. Operations raise a `PinfoldError` when what they are kept in cannot be read or written.
    """

    name: ClassVar[str]
    batch: ClassVar[int] = PAGE
    """How many rows are best taken in at once."""

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Store a row over the one with its key, whose `id` and `created_at` stay; it is superseded no longer."""
        ...

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find rows of any of these agents, the best first."""
        ...

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Read one row, superseded or not."""
        ...

    async def forget(self, owner: Owner, key: str) -> bool:
        """Delete one row, and tell whether it was there."""
        ...

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Delete the rows of a session, and count them."""
        ...

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Read rows, the newest first."""
        ...

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Count the rows that `listed` would give without `limit` and `offset`."""
        ...

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Keep a row from hygiene, or no longer; tell whether it is there."""
        ...

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Mark a row as replaced by the row with the key `by`; tell whether both are there."""
        ...

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Delete rows from before the cutoffs that are not pinned."""
        ...

    def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Yield every row as it is, page by page, sorted by key where the back-end can."""
        ...

    async def take_in(self, owner: Owner, rows: Sequence[Row]) -> int:
        """Store rows that were read out over those with their keys, and count them; all or none."""
        ...

    async def put_back(self, owner: Owner, before: RowsByKey, left: RowsByKey) -> None:
        """Put rows back as they were before a change.

        A back-end without transactions compares first and then stores, and does not see what is stored in between.

        Args:
            owner: Whose rows.
            before: What was there under each key.
            left: What the change left there.

        Raises:
            ChangedMeanwhile: Something else is there by now; nothing is put back.
        """
        check_left(left, {key: await self.get(owner, key) for key in left})
        for key, row in before.items():
            if row is None:
                await self.forget(owner, key)
        await self.take_in(owner, there(before))

    async def purge(self, owner: Owner) -> int:
        """Delete every row of an agent, and count them."""
        ...

    async def rename(self, owner: Owner, alias: str) -> None:
        """Give an agent's rows to another alias, which has none; done again, it changes nothing.

        Raises:
            MemoryRefused: The other alias has rows of its own.
        """
        ...

    async def status(self) -> BackendStatus:
        """Look whether it answers; never raises a `PinfoldError`."""
        return BackendStatus(self.name, True)

    async def close(self) -> None:
        """Let go of connections; a later operation makes new ones."""
        return None
