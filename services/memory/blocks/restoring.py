"""Tenants put back as they were kept; runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import msgspec

from services.errors import MemoryRefused
from services.home import next_revision
from services.memory.blocks.model import ArchiveEntry, Block, Tenant
from services.memory.blocks.renaming import renamed_caller, tenants_with_content
from services.memory.blocks.tenants import derived_id


class TenantContent(msgspec.Struct, frozen=True):
    """All that one tenant has.

    Attributes:
        blocks: Contents by the block's name.
        history: Times in nanoseconds since 1970 with what was noted, the oldest first.
    """

    tenant: Tenant
    blocks: Mapping[str, str]
    history: Sequence[tuple[int, str]]
    entries: Sequence[ArchiveEntry]


def restore_tenants(connection: sqlite3.Connection, kept: Sequence[TenantContent], alias: str, now: int) -> int:
    """Put back an agent's tenant with those of the roles below it, and count those that hold anything.

    Args:
        connection: In a transaction.
        kept: The agent's own first, each other after its parent.
        alias: What the agent is called now.
        now: Nanoseconds since 1970.

    Raises:
        MemoryRefused: The alias has core memory of its own, or what was kept does not fit together.
    """
    if not kept:
        return 0
    own = kept[0].tenant
    if own.parent is not None or any(one.tenant.parent is None for one in kept[1:]):
        raise MemoryRefused("the core memory cannot be restored", why="it does not begin with the agent's own")
    if tenants_with_content(connection, alias):
        raise MemoryRefused(f"{alias} has core memory of its own", fix="Restore under another alias.")
    connection.execute("DELETE FROM tenants WHERE parent IS NULL AND agent = ?", (alias,))
    taken = connection.execute("SELECT 1 FROM tenants WHERE id = ?", (own.id,)).fetchone()
    ids = {own.id: next_revision(connection) if taken else own.id}
    for one in kept:
        tenant = one.tenant
        if tenant.parent is not None:
            if tenant.parent not in ids:
                raise MemoryRefused("the core memory cannot be restored", why=f"the caller of {tenant.role} is missing")
            ids[tenant.id] = derived_id(ids[tenant.parent], renamed_caller(tenant.agent, own.agent, alias), tenant.role)
        parent = None if tenant.parent is None else ids[tenant.parent]
        caller = renamed_caller(tenant.agent, own.agent, alias)
        _insert(
            connection, msgspec.structs.replace(one, tenant=Tenant(ids[tenant.id], caller, parent, tenant.role)), now
        )
    return len(tenants_with_content(connection, alias))


def _insert(connection: sqlite3.Connection, kept: TenantContent, now: int) -> None:
    tenant = kept.tenant
    try:
        connection.execute(
            "INSERT INTO tenants (id, agent, parent, role, created_at) VALUES (?, ?, ?, ?, ?)",
            (tenant.id, tenant.agent, tenant.parent, tenant.role, now),
        )
    except sqlite3.IntegrityError as error:
        raise MemoryRefused("the core memory cannot be restored", why=f"the tenant {tenant.id} does not fit") from error
    known = {block.value for block in Block}
    connection.executemany(
        "INSERT INTO core_blocks (tenant, block, content, updated_at) VALUES (?, ?, ?, ?)",
        [(tenant.id, block, content, now) for block, content in kept.blocks.items() if block in known],
    )
    connection.executemany(
        "INSERT INTO block_history (tenant, entry, at) VALUES (?, ?, ?)",
        [(tenant.id, entry, at) for at, entry in kept.history],
    )
    owner = f"{'n' if tenant.id < 0 else 't'}{abs(tenant.id)}"
    for entry in kept.entries:
        fresh = connection.execute("SELECT 1 FROM archive_entries WHERE id = ?", (entry.id,)).fetchone()
        entry_id = f"{next_revision(connection):032x}" if fresh else entry.id
        connection.execute(
            "INSERT INTO archive_entries (id, tenant, owner, content, created_at) VALUES (?, ?, ?, ?, ?)",
            (entry_id, tenant.id, owner, entry.content, entry.created_at),
        )
