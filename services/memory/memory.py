"""What is remembered in a home."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from services.errors import DatabaseError
from services.home import BlockingCalls, Database, Home
from services.memory.contexts import Contexts
from services.memory.contexts.contexts import new_id
from services.memory.scopes import Namespace, Scope, Scopes, Transfer

SWEEP_SECONDS = 60.0

_log = logging.getLogger(__name__)


class Memory:
    """The memory of a home.

    Args:
        home: Where the locks of those who work in contexts lie.
        database: Where everything is kept.
        calls: Threads for blocking calls.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of contexts and steps.
        sweep_every: Seconds between sweeps of what has expired.

    Attributes:
        scopes: Keys of users, teams, chats and contexts.
        contexts: The contexts themselves, with their steps.
        transfer: Keys written to and read from JSON Lines.
    """

    def __init__(
        self,
        home: Home,
        database: Database,
        calls: BlockingCalls,
        now: Callable[[], int] = time.time_ns,
        make_id: Callable[[], str] = new_id,
        sweep_every: float = SWEEP_SECONDS,
    ) -> None:
        self.scopes = Scopes(database, now)
        self.contexts = Contexts(database, home.state_dir / "contexts", calls, now, make_id)
        self.transfer = Transfer(self.scopes, calls)
        self._sweep_every = sweep_every

    def namespace(self, scope: Scope) -> Namespace:
        """The keys of one scope; there need not be any."""
        return self.scopes.namespace(scope)

    async def look_after(self) -> None:
        """Delete what has expired and interrupt the contexts of dead processes, again and again until cancelled."""
        while True:
            try:
                await self.scopes.sweep()
                await self.contexts.sweep()
            except DatabaseError as error:  # whoever uses the database is told; the next sweep may succeed
                _log.warning("cannot sweep memory: %s", error)
            await asyncio.sleep(self._sweep_every)

    async def close(self) -> None:
        """Leave the contexts; those still open are interrupted for whoever looks next."""
        await self.contexts.close()
