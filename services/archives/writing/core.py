"""What tenants always see and what they put away, read out page by page."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from services.archives.reading.model import KeptEntry, KeptTenant
from services.memory import CoreMemory, Tenant

_PAGE = 200
_HISTORY = 2**62


async def core_blocks_of(core: CoreMemory, tenants: Sequence[Tenant]) -> AsyncGenerator[tuple[KeptTenant, ...], None]:
    """Yield each tenant's blocks and history, the oldest note first."""
    for tenant in tenants:
        blocks = core.blocks(tenant)
        contents = {text.block.value: text.content for text in await blocks.all() if text.updated_at}
        notes = await blocks.history(limit=_HISTORY)
        yield (KeptTenant(tenant, contents, tuple((note.at, note.entry) for note in reversed(notes))),)


async def archive_entries_of(
    core: CoreMemory, tenants: Sequence[Tenant]
) -> AsyncGenerator[tuple[KeptEntry, ...], None]:
    """Yield each tenant's archive entries, the newest first."""
    for tenant in tenants:
        archive, offset = core.archive(tenant), 0
        while entries := await archive.entries(limit=_PAGE, offset=offset):
            yield tuple(KeptEntry(tenant.id, entry.id, entry.content, entry.created_at) for entry in entries)
            offset += len(entries)
