"""Agent memory that is kept nowhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import ClassVar

from services.memory.agents.backend import Backend, Cutoffs, Listing, Pruned
from services.memory.agents.drafting import made_row
from services.memory.agents.model import Draft, Owner, Query, Recalled, Row
from services.memory.screening import Screened


class NoBackend(Backend):
    """Forgets at once.

    Args:
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of rows.
    """

    name: ClassVar[str] = "none"

    def __init__(self, now: Callable[[], int], make_id: Callable[[], str]) -> None:
        self._now = now
        self._make_id = make_id

    async def store(self, owner: Owner, draft: Draft, screened: Screened) -> Row:
        """Return the row that another back-end would store."""
        return made_row(owner, draft, screened, None, self._make_id, self._now(), owner.alias)

    async def recall(self, owners: Sequence[Owner], query: Query) -> list[Recalled]:
        """Find nothing."""
        return []

    async def get(self, owner: Owner, key: str) -> Row | None:
        """Find nothing."""
        return None

    async def forget(self, owner: Owner, key: str) -> bool:
        """Find nothing."""
        return False

    async def forget_session(self, owner: Owner, session: str) -> int:
        """Find nothing."""
        return 0

    async def listed(self, owner: Owner, listing: Listing) -> list[Row]:
        """Find nothing."""
        return []

    async def count(self, owner: Owner, listing: Listing) -> int:
        """Find nothing."""
        return 0

    async def pin(self, owner: Owner, key: str, pinned: bool) -> bool:
        """Find nothing."""
        return False

    async def supersede(self, owner: Owner, key: str, by: str) -> bool:
        """Find nothing."""
        return False

    async def prune(self, owner: Owner, cutoffs: Cutoffs, *, dry_run: bool) -> Pruned:
        """Find nothing."""
        return Pruned({}, 0)

    async def read_out(self, owner: Owner) -> AsyncIterator[Sequence[Row]]:
        """Find nothing."""
        pages: Sequence[Sequence[Row]] = ()
        for nothing in pages:
            yield nothing

    async def take_in(self, owner: Owner, rows: Sequence[Row]) -> int:
        """Keep none."""
        return 0

    async def purge(self, owner: Owner) -> int:
        """Find nothing."""
        return 0

    async def rename(self, owner: Owner, alias: str) -> None:
        """Find nothing."""
