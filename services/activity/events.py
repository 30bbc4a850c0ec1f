"""What just changed, told to whoever listens in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Something changed; listeners read the new state from the service that owns it."""


@dataclass(frozen=True)
class AgentsChanged(Event):
    """An agent's file, or `pinfold.toml`, was read again; alias is "" when all agents are concerned."""

    alias: str = ""


@dataclass(frozen=True)
class SessionChanged(Event):
    """A session's row or steps changed, appeared or went."""

    session: str


@dataclass(frozen=True)
class EngineChanged(Event):
    """An engine was lost, came back, or reports something new."""

    engine: str


@dataclass(frozen=True)
class ActivityGrew(Event):
    """Entries were added to the activity log."""


@dataclass(frozen=True)
class ApprovalsChanged(Event):
    """A call began to wait for an operator's word, or waits no more."""


class Listener:
    """One subscription: equal events that wait are told once."""

    def __init__(self) -> None:
        self._waiting: dict[Event, None] = {}
        self._arrived = asyncio.Event()

    def put(self, event: Event) -> None:
        """Keep an event until the listener takes it."""
        self._waiting[event] = None
        self._arrived.set()

    async def batches(self, pause: float = 0.0) -> AsyncGenerator[tuple[Event, ...], None]:
        """Yield all events waiting, in order of arrival; then wait at least `pause` seconds."""
        while True:
            await self._arrived.wait()
            self._arrived.clear()
            batch = tuple(self._waiting)
            self._waiting.clear()
            yield batch
            if pause:
                await asyncio.sleep(pause)


class Events:
    """The event stream of one process; publishing never waits."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def publish(self, event: Event) -> None:
        """Tell every listener."""
        for listener in self._listeners:
            listener.put(event)

    @contextmanager
    def listen(self) -> Iterator[Listener]:
        """Subscribe for the length of a `with` block."""
        listener = Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
