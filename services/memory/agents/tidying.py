"""Hygiene by itself: agents' memories are tidied twice a day where `pinfold.toml` asks for it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable

from services.agents import Agents, SharedMemory
from services.errors import PinfoldError
from services.home import Database
from services.memory.agents.agent_memories import AgentMemories
from services.memory.agents.hygiene import Retention

_EVERY_NS = 12 * 3600 * 1_000_000_000
LOOK_SECONDS = 600.0

_log = logging.getLogger(__name__)


def retention_of(shared: SharedMemory) -> Retention:
    """How long `pinfold.toml` says that rows are kept."""
    return Retention(shared.retention.days)


class Tidying:
    """Tidies each agent's memory at most every 12 hours, whichever Pinfold does it.

    Args:
        memories: The memories.
        agents: Whose, and what `pinfold.toml` says.
        database: Where it is written when each was tidied last.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, memories: AgentMemories, agents: Agents, database: Database, now: Callable[[], int]) -> None:
        self._memories = memories
        self._agents = agents
        self._database = database
        self._now = now

    async def look_after(self, every: float = LOOK_SECONDS) -> None:
        """Tidy what is due, again and again until cancelled; a memory that cannot be tidied stops no other.

        Args:
            every: Seconds between looks.
        """
        while True:
            await self.tidy_all()
            await asyncio.sleep(every)

    async def tidy_all(self) -> None:
        """Tidy what is due, if `pinfold.toml` asks for it."""
        shared = self._agents.shared.memory
        if not shared.retention.automatic:
            return
        for agent in self._agents.all():
            try:
                if agent.config is not None and await self._is_due(agent.alias):
                    memory = self._memories.of(agent.alias, "pinfold")
                    await memory.tidy(retention_of(shared), self._now())
                    await self._mark(agent.alias)
            except PinfoldError as error:  # the next look may succeed
                _log.warning("cannot tidy what %s remembers: %s", agent.alias, error)

    async def _is_due(self, alias: str) -> bool:
        def job(connection: sqlite3.Connection) -> int:
            found = connection.execute("SELECT at FROM memory_tidied WHERE alias = ?", (alias,)).fetchone()
            return int(found[0]) if found else 0

        return self._now() - await self._database.read(job) >= _EVERY_NS

    async def _mark(self, alias: str) -> None:
        sql = "INSERT INTO memory_tidied (alias, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at"
        now = self._now()
        await self._database.write(lambda c: c.execute(sql, (alias, now)).rowcount)
