"""Vectors of memories just stored, made behind the back of whoever stored them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from services.agents import VectorSection
from services.errors import PinfoldError
from services.home import Database
from services.memory.agents.rows import agent_id
from services.memory.agents.vectors import rows
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.making import BATCH, made_of

_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 300.0
LOOK_SECONDS = 600.0

_log = logging.getLogger(__name__)


class Arrears:
    """Embeds what is due; an embedder that fails is asked again later, and what is due stays written down.

    Args:
        database: The home's.
        embedding: Turns texts into vectors.
        section: Names the embedder of an agent by its alias; None where it has none.
        first_pause: Seconds until an embedder that failed is asked again; twice as many each time.
    """

    def __init__(
        self,
        database: Database,
        embedding: Embedding,
        section: Callable[[str], VectorSection | None],
        first_pause: float = _FIRST_PAUSE,
    ) -> None:
        self._database = database
        self._embedding = embedding
        self._section = section
        self._first_pause = first_pause
        self._woken: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def wake(self, alias: str) -> None:
        """See to it that what is due of an agent is embedded; returns at once."""
        self._woken.add(alias)
        task = self._tasks.get(alias)
        if task is None or task.done():
            self._tasks[alias] = asyncio.create_task(self._catch_up(alias))

    async def look_after(self, every: float = LOOK_SECONDS) -> None:
        """Wake what was left over by others, again and again until cancelled.

        Args:
            every: Seconds between looks.
        """
        while True:
            try:
                for alias in await self._database.read(rows.are_due):
                    if self._section(alias) is not None:
                        self.wake(alias)
            except PinfoldError as error:  # whoever uses the database is told; the next look may succeed
                _log.warning("cannot look for memories without vectors: %s", error)
            await asyncio.sleep(every)

    async def close(self) -> None:
        """Leave what is still due to whoever looks next."""
        tasks = [*self._tasks.values()]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _catch_up(self, alias: str) -> None:
        pause = self._first_pause
        while alias in self._woken:
            self._woken.discard(alias)
            try:
                while await self._embed_some(alias):
                    pause = self._first_pause
            except PinfoldError as error:
                _log.warning("memories of %s have no vectors yet: %s", alias, error)
                self._woken.add(alias)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def _embed_some(self, alias: str) -> bool:
        """Embed what is due, as much as goes in one request; tell whether there may be more."""
        section = self._section(alias)
        if section is None:
            return False
        sources = await self._database.read(lambda c: rows.due(c, agent_id(c, alias), BATCH))
        if not sources:
            return False
        made = await made_of(self._embedding, self._embedding.embedder(section), sources)
        await self._database.write(made.store)
        return True
