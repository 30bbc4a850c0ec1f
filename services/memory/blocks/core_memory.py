"""The core blocks, archives and tenants of a home."""

from __future__ import annotations

from collections.abc import Callable

from services.home import Database
from services.memory.agents.model import new_id
from services.memory.blocks.archive import Archive
from services.memory.blocks.core_blocks import CoreBlocks
from services.memory.blocks.letta import LettaTools
from services.memory.blocks.model import Tenant
from services.memory.blocks.tenants import Tenants
from services.memory.screening import Screener


class CoreMemory:
    """Hands out what a tenant has.

    Args:
        database: The home's.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of archive entries.
        screener: Screens what is written and what agents read; None lets all through.

    Attributes:
        tenants: Whose they are.
    """

    def __init__(
        self,
        database: Database,
        now: Callable[[], int],
        make_id: Callable[[], str] = new_id,
        screener: Screener | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._make_id = make_id
        self._screener = screener
        self.tenants = Tenants(database, now)

    def blocks(self, tenant: Tenant) -> CoreBlocks:
        """The core blocks of a tenant."""
        return CoreBlocks(tenant, self._database, self._now, self._screener)

    def archive(self, tenant: Tenant) -> Archive:
        """The archive of a tenant."""
        return Archive(tenant, self._database, self._now, self._make_id, self._screener)

    def tools(self, tenant: Tenant) -> LettaTools:
        """The tools a tenant changes both with."""
        return LettaTools(self.blocks(tenant), self.archive(tenant))
