"""What goes on in the background while a Pinfold is open: watching engines, records and idle sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from services.activity import ActivityGrew, ActivityLog, ApprovalsChanged, Events, SessionChanged
from services.errors import EngineUnavailable, PinfoldError
from services.home import Database
from services.sandbox.cleanup import Cleanup
from services.sandbox.engines.engine import Engine
from services.sandbox.lifecycle import Lifecycle
from services.sandbox.recovery import Recovery
from services.sandbox.roster import EngineRoster
from services.sandbox.store import SessionStore
from services.sandbox.tools import Supply, waiting_numbers

_FIRST_PAUSE, _LAST_PAUSE = 0.05, 2.0
_SWEEP_SECONDS = 30.0
_TAKE_UP_SECONDS = 2.0
_SETTLE_SECONDS = 0.05
_REFUSED_SECONDS = 5.0


class Supervisor:
    """Runs the watchers, each for itself: what troubles one leaves the others going and is kept to be shown."""

    def __init__(
        self,
        database: Database,
        store: SessionStore,
        activity: ActivityLog,
        events: Events,
        roster: EngineRoster,
        cleanup: Cleanup,
        recovery: Recovery,
        lifecycle: Lifecycle,
        tools: Supply,
    ) -> None:
        self._database = database
        self._store = store
        self._activity = activity
        self._events = events
        self._roster = roster
        self._cleanup = cleanup
        self._recovery = recovery
        self._lifecycle = lifecycle
        self._tools = tools
        self._trouble: dict[str, str] = {}

    def trouble(self) -> tuple[str, ...]:
        """What keeps a watcher from its work now; empty when all is well."""
        return tuple(self._trouble.values())

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as watchers:
            watchers.create_task(self._keep("records", self._watch_records))
            watchers.create_task(self._keep("live sessions", self._watch_live))
            watchers.create_task(self._keep("lifecycle", self._watch_lifecycle))
            watchers.create_task(self._keep("refused hosts", self._watch_refused_hosts))
            watchers.create_task(self._keep("tools", self._watch_tools))
            watchers.create_task(self._keep("directories", self._cleanup.sweep_directories, once=True))
            for engine in self._roster:
                watchers.create_task(self._watch_engine(engine), name=f"watch {engine.name}")

    async def _keep(self, name: str, watch: Callable[[], Awaitable[None]], *, once: bool = False) -> None:
        """Begin again, after a pause, whatever ends in an error."""
        pause = _FIRST_PAUSE
        while True:
            started = asyncio.get_running_loop().time()
            try:
                await watch()
                self._trouble.pop(name, None)
                if once:
                    return
            except PinfoldError as error:
                self._trouble[name] = str(error)
            if asyncio.get_running_loop().time() - started > _LAST_PAUSE:
                pause = _FIRST_PAUSE
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE)

    async def _watch_records(self) -> None:
        """Tell this process of changes made by any process, and take up what they ask for."""
        revision = (await self._store.changed_since(0)).revision
        entry = await self._last_entry()
        waiting = await waiting_numbers(self._database)
        async with aclosing(self._database.changes()) as changes:
            async for _ in changes:
                found = await self._store.changed_since(revision)
                revision = found.revision
                for session in (*(changed.id for changed in found.sessions), *found.removed):
                    self._events.publish(SessionChanged(session))
                last = await self._last_entry()
                if last != entry:
                    entry = last
                    self._events.publish(ActivityGrew())
                asked = await waiting_numbers(self._database)
                if asked != waiting:
                    waiting = asked
                    self._events.publish(ApprovalsChanged())
                self._recovery.let_go(found.removed)
                await self._recovery.take_up(found.sessions)
                self._trouble.pop("records", None)

    async def _last_entry(self) -> int:
        entries = await self._activity.recent(1)
        return entries[-1].number if entries else 0

    async def _watch_live(self) -> None:
        """Look after every live session now and then: a Pinfold that dies leaves no change to be told of."""
        while True:
            await self._recovery.take_up(await self._store.current())
            self._trouble.pop("live sessions", None)
            await asyncio.sleep(_TAKE_UP_SECONDS)

    async def _watch_refused_hosts(self) -> None:
        while True:
            await self._cleanup.take_in_refusals()
            self._trouble.pop("refused hosts", None)
            await asyncio.sleep(_REFUSED_SECONDS)

    async def _watch_tools(self) -> None:
        while True:
            await self._tools.uphold()
            self._trouble.pop("tools", None)
            await asyncio.sleep(_TAKE_UP_SECONDS)

    async def _watch_lifecycle(self) -> None:
        while True:
            pause = await self._lifecycle.look()
            self._trouble.pop("lifecycle", None)
            await asyncio.sleep(pause)

    async def _watch_engine(self, engine: Engine) -> None:
        """Stay connected to an engine and compare it with the records at every change it tells of."""
        pause = _FIRST_PAUSE
        while True:
            if (await self._roster.check(engine.name)).usable:
                try:
                    await self._compare_at_changes(engine)
                    pause = _FIRST_PAUSE
                except EngineUnavailable as error:
                    self._roster.lost(engine.name, str(error))
                except PinfoldError as error:
                    self._trouble[engine.name] = str(error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE)

    async def _compare_at_changes(self, engine: Engine) -> None:
        changed = asyncio.Event()
        listening = asyncio.create_task(_set_at_changes(engine, changed))
        try:
            while not listening.done():
                changed.clear()
                await self._recovery.compare(engine)
                self._trouble.pop(engine.name, None)
                await asyncio.sleep(_SETTLE_SECONDS)  # a burst of changes is one
                waiting = asyncio.create_task(changed.wait())
                try:
                    await asyncio.wait(
                        {waiting, listening}, timeout=_SWEEP_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                finally:
                    waiting.cancel()
            listening.result()
        finally:
            listening.cancel()
            await asyncio.wait({listening})


async def _set_at_changes(engine: Engine, changed: asyncio.Event) -> None:
    async with aclosing(engine.changes()) as changes:
        async for _ in changes:
            changed.set()
