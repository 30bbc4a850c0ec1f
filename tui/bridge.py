"""Turns what happens in the services into what the screens show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from tui.store import Store

if TYPE_CHECKING:
    from services.activity import Event
    from services.home import Home
    from services.pinfold import Pinfold

_PAUSE_SECONDS = 0.05


class Bridge:
    """Opens the services, fills the store, and keeps it up to date at most twenty times a second.

    Args:
        home: The home to open.
        store: What the screens read.
    """

    def __init__(self, home: Home, store: Store) -> None:
        self._home = home
        self._store = store
        self._revision = 0

    async def run(self, opened: Callable[[Pinfold], None]) -> None:
        """Serve the screens until cancelled; the services are closed then, sessions go on.

        Args:
            opened: Told once the services are open.

        Raises:
            PinfoldError: The home cannot be opened.
        """
        from services.pinfold import Pinfold

        self._await("the database")
        async with Pinfold.open(self._home) as pinfold:
            with pinfold.events.listen() as listener:
                opened(pinfold)
                await self._fill(pinfold)
                async for batch in listener.batches(_PAUSE_SECONDS):
                    await self._take_in(pinfold, batch)

    async def _fill(self, pinfold: Pinfold) -> None:
        self._await("sessions")
        await self._take_in_sessions(pinfold)
        await self._take_in_approvals(pinfold)
        self._await("agents")
        self._take_in_agents(pinfold)
        self._take_in_engines(pinfold)
        self._await("")

    async def _take_in(self, pinfold: Pinfold, batch: Iterable[Event]) -> None:
        from services.activity import ActivityGrew, AgentsChanged, ApprovalsChanged, EngineChanged, SessionChanged

        kinds = {type(event) for event in batch}
        if SessionChanged in kinds:
            await self._take_in_sessions(pinfold)
        if ApprovalsChanged in kinds:
            await self._take_in_approvals(pinfold)
        if AgentsChanged in kinds:
            self._take_in_agents(pinfold)
        if EngineChanged in kinds:
            self._take_in_engines(pinfold)
        if ActivityGrew in kinds:
            self._store.activity_changed.publish(None)

    async def _take_in_sessions(self, pinfold: Pinfold) -> None:
        changes = await pinfold.sandboxes.changed_since(self._revision)
        self._revision = changes.revision
        self._store.put_sessions(changes.sessions, changes.removed)

    async def _take_in_approvals(self, pinfold: Pinfold) -> None:
        self._store.put_approvals(await pinfold.approvals.waiting())

    def _take_in_agents(self, pinfold: Pinfold) -> None:
        self._store.put_agents(pinfold.agents.all())
        self._store.put_interface(pinfold.agents.shared.interface)

    def _take_in_engines(self, pinfold: Pinfold) -> None:
        self._store.put_engines(pinfold.sandboxes.engines(), pinfold.sandboxes.orphans())

    def _await(self, what: str) -> None:
        self._store.await_(what, time.monotonic())
