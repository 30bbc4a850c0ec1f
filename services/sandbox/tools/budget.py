"""How many actions an agent's tools may take in an hour, over all its sessions and every process that serves them.

The rules are those of `services.policy.Budget`; the slots are rows, so that nothing forgets them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.errors import SessionRefused
from services.home import Database

WINDOW = 3600 * 10**9
"""Nanoseconds; the window slides."""


class ActionBudget:
    """Slots for actions: taken first, kept when the action succeeded, else given back.

    Args:
        database: Where they are kept.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, now: Callable[[], int]) -> None:
        self._database = database
        self._now = now

    @asynccontextmanager
    async def action(self, agent: str, limit: int) -> AsyncIterator[None]:
        """Hold a slot of an agent for the length of a block; an error in the block gives it back.

        Args:
            agent: The alias.
            limit: Actions an hour; 0 blocks all.

        Raises:
            SessionRefused: No slot is free.
        """
        slot = await self._database.write(lambda connection: _take(connection, agent, limit, self._now()))
        if slot is None:
            raise SessionRefused(
                "the action is refused",
                why=f"{limit} actions in the last hour are all its budget allows",
                fix="Wait, or ask the operator to raise max_actions_per_hour.",
            )
        try:
            yield
        except BaseException:
            await self._database.write(
                lambda connection: connection.execute("DELETE FROM tool_actions WHERE number = ?", (slot,))
            )
            raise

    async def left(self, agent: str, limit: int) -> int:
        """Count the slots that are free."""
        since = self._now() - WINDOW
        taken = await self._database.read(lambda connection: _taken(connection, agent, since))
        return max(0, limit - taken)


def _take(connection: sqlite3.Connection, agent: str, limit: int, now: int) -> int | None:
    connection.execute("DELETE FROM tool_actions WHERE agent = ? AND at <= ?", (agent, now - WINDOW))
    if _taken(connection, agent, now - WINDOW) >= limit:
        return None
    return connection.execute("INSERT INTO tool_actions (agent, at) VALUES (?, ?)", (agent, now)).lastrowid


def _taken(connection: sqlite3.Connection, agent: str, since: int) -> int:
    sql = "SELECT count(*) FROM tool_actions WHERE agent = ? AND at > ?"
    (count,) = connection.execute(sql, (agent, since)).fetchone()
    return int(count)
