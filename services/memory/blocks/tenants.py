"""Who has core blocks: agents, and the roles they call."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable

from services.errors import InputRefused
from services.home import Database, next_revision
from services.memory.blocks.model import Tenant
from services.memory.scopes.model import check_name, shortened

_SIGN = 1 << 63
_COLUMNS = "id, agent, parent, role"


def derived_id(parent: int, agent: str, role: str) -> int:
    """Work out the tenant of a role as one agent calls it: always the same, always negative, 64 bits.

    Args:
        parent: The caller's tenant.
        agent: The caller: an alias, or a chain such as `main/planner`.
        role: The role it calls.

    Raises:
        InputRefused: A name is empty or has a `:`, which would let two pairs of names be one.
    """
    for name, what in ((agent, "the agent"), (role, "the role")):
        if ":" in check_name(name, what):
            raise InputRefused(f"{what} {shortened(name)} cannot have a tenant", why="it has a colon")
    if not -_SIGN <= parent < _SIGN:
        raise InputRefused(f"{parent} is no tenant", why="it needs more than 64 bits")
    digest = hashlib.sha256(f"{parent}:{agent}:{role}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") | _SIGN) - (1 << 64)


class Tenants:
    """The tenants of a home.

    Args:
        database: Where they are kept.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    async def of_agent(self, alias: str) -> Tenant:
        """Find an agent's own tenant, or make it."""
        check_name(alias, "the agent")

        def job(connection: sqlite3.Connection) -> Tenant:
            found = _find(connection, "parent IS NULL AND agent = ?", alias)
            if found:
                return found
            fresh = Tenant(next_revision(connection), alias)  # a number that is never used again
            _insert(connection, fresh, self._now())
            return fresh

        return await self._database.write(job)

    async def of_role(self, parent: Tenant, agent: str, role: str) -> Tenant:
        """Find the tenant of a role as an agent calls it, or make it.

        Args:
            parent: The caller's tenant.
            agent: The caller: an alias, or a chain such as `main/planner`.
            role: The role it calls.

        Raises:
            InputRefused: A name cannot be one, or another role has the same number by a chance of 2^-63.
        """
        wanted = Tenant(derived_id(parent.id, agent, role), agent, parent.id, role)

        def job(connection: sqlite3.Connection) -> Tenant:
            found = _find(connection, "id = ?", wanted.id)
            if found is None:
                _insert(connection, wanted, self._now())
            elif found != wanted:
                raise InputRefused(f"the role {shortened(role)} cannot have a tenant", why="another has its number")
            return wanted

        return await self._database.write(job)

    async def find(self, agent: str) -> Tenant | None:
        """Find an agent's own tenant; makes none."""
        return await self._database.read(lambda c: _find(c, "parent IS NULL AND agent = ?", agent))

    async def all(self) -> list[Tenant]:
        """Read every tenant: agents by alias, each followed by the roles, by caller and name."""
        sql = f"SELECT {_COLUMNS} FROM tenants ORDER BY parent IS NOT NULL, agent, role, id"
        return await self._database.read(lambda c: [Tenant(*row) for row in c.execute(sql)])

    async def remove(self, tenant: Tenant) -> bool:
        """Delete a tenant with its blocks, archive and history, and with the roles below it; tell if it was there."""

        def job(connection: sqlite3.Connection) -> bool:
            below = (
                "DELETE FROM tenants WHERE id IN (WITH RECURSIVE below (id) AS (VALUES (?) UNION"
                " SELECT t.id FROM tenants AS t JOIN below AS b ON t.parent = b.id) SELECT id FROM below)"
            )
            return connection.execute(below, (tenant.id,)).rowcount > 0

        return await self._database.write(job)


def _find(connection: sqlite3.Connection, where: str, value: object) -> Tenant | None:
    found = connection.execute(f"SELECT {_COLUMNS} FROM tenants WHERE {where}", (value,)).fetchone()
    return Tenant(*found) if found else None


def _insert(connection: sqlite3.Connection, tenant: Tenant, now: int) -> None:
    connection.execute(
        "INSERT INTO tenants (id, agent, parent, role, created_at) VALUES (?, ?, ?, ?, ?)",
        (tenant.id, tenant.agent, tenant.parent, tenant.role, now),
    )
