"""Tenants when an agent gets another alias; runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3

from services.errors import MemoryRefused
from services.memory.blocks.tenants import derived_id

_CONTENT = ("core_blocks", "block_history", "archive_entries")


def tenants_with_content(connection: sqlite3.Connection, alias: str) -> tuple[int, ...]:
    """The tenants of an agent, its own first and then those of the roles below it, that hold anything."""
    return tuple(tenant for tenant in _below(connection, alias) if _has_content(connection, tenant))


def renamed_caller(caller: str, old: str, new: str) -> str:
    """The name of a caller, an alias or a chain that begins with one, once the alias is another."""
    return new + caller[len(old) :] if caller == old or caller.startswith(f"{old}/") else caller


def rename_tenants(connection: sqlite3.Connection, old: str, new: str) -> int:
    """Give an agent's tenant, and those of the roles it calls, to another alias, and count those that hold anything.

    A role's tenant is derived from its caller's name, so it gets the id that the new name gives. Done again, it changes
    nothing.

    Raises:
        MemoryRefused: The other alias has core memory of its own.
    """
    if _own(connection, old) is None:
        return 0
    if tenants_with_content(connection, new):
        raise MemoryRefused(
            f"{old} cannot be renamed to {new}", why=f"{new} has core memory of its own", fix="Move that away first."
        )
    for tenant in reversed(_below(connection, new)):
        connection.execute("DELETE FROM tenants WHERE id = ?", (tenant,))
    connection.execute("PRAGMA defer_foreign_keys = ON")
    tenants = _below(connection, old)
    filled = sum(_has_content(connection, tenant) for tenant in tenants)
    ids: dict[int, int] = {}
    for tenant in tenants:
        parent, agent, role = connection.execute(
            "SELECT parent, agent, role FROM tenants WHERE id = ?", (tenant,)
        ).fetchone()
        caller = renamed_caller(agent, old, new)
        above = ids.get(parent, parent)
        ids[tenant] = tenant if parent is None else derived_id(above, caller, role)
        connection.execute(
            "UPDATE tenants SET id = ?, parent = ?, agent = ? WHERE id = ?", (ids[tenant], above, caller, tenant)
        )
        if ids[tenant] != tenant:
            _move_content(connection, tenant, ids[tenant])
    return filled


def _own(connection: sqlite3.Connection, alias: str) -> int | None:
    found = connection.execute("SELECT id FROM tenants WHERE parent IS NULL AND agent = ?", (alias,)).fetchone()
    return None if found is None else int(found[0])


def _below(connection: sqlite3.Connection, alias: str) -> list[int]:
    """An agent's tenant and all below it, each after its parent."""
    own = _own(connection, alias)
    found: list[int] = [] if own is None else [own]
    for tenant in found:
        found += [
            row[0] for row in connection.execute("SELECT id FROM tenants WHERE parent = ? ORDER BY id", (tenant,))
        ]
    return found


def _has_content(connection: sqlite3.Connection, tenant: int) -> bool:
    return any(
        connection.execute(f"SELECT 1 FROM {table} WHERE tenant = ?", (tenant,)).fetchone() for table in _CONTENT
    )


def _move_content(connection: sqlite3.Connection, old: int, new: int) -> None:
    for table in _CONTENT[:2]:
        connection.execute(f"UPDATE {table} SET tenant = ? WHERE tenant = ?", (new, old))
    # Written anew, since the words of the search hold the owner and follow inserts and deletes only.
    entries = connection.execute(
        "SELECT number, id, content, created_at FROM archive_entries WHERE tenant = ? ORDER BY number", (old,)
    ).fetchall()
    connection.execute("DELETE FROM archive_entries WHERE tenant = ?", (old,))
    connection.executemany(
        "INSERT INTO archive_entries (number, id, tenant, owner, content, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, id, new, _owner(new), content, at) for number, id, content, at in entries],
    )


def _owner(tenant: int) -> str:
    return f"{'n' if tenant < 0 else 't'}{abs(tenant)}"
