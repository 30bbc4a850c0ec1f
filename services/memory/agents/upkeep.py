"""What goes with every change of an agent's memory: that it is where it is changed, and that the change is logged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from services.activity import ActivityLog
from services.agents import Places
from services.errors import MemoryRefused
from services.home import Home
from services.memory.agents.gate import Gate
from services.memory.agents.model import Owner
from services.memory.scopes.model import shortened


class Upkeep:
    """Stands by the changes of agents' memories.

    Args:
        home: Where the gates lie.
        places: Says where each agent's memory is.
        activity: Records the changes; never contents, nor a secret in a key.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, home: Home, places: Places, activity: ActivityLog | None, now: Callable[[], int]) -> None:
        self.home = home
        self.places = places
        self.activity = activity
        self.now = now

    @asynccontextmanager
    async def changing(self, owner: Owner, backend: str) -> AsyncIterator[None]:
        """Be sure, while the block runs, that an agent's memory is in a back-end and stays there.

        Raises:
            MemoryRefused: It is in another by now.
            LockHeld: It is being moved in this moment.
        """
        with Gate(self.home, owner.alias).passed():
            place = await self.places.claim(owner.alias, backend)
            if place != backend:
                raise MemoryRefused(
                    f"nothing was changed in the memory of {owner.alias}",
                    why=f"it is in {place} by now, not in {backend}",
                    fix="Try again, or look at its agent.toml.",
                )
            yield

    async def record(self, verb: str, actor: str, alias: str, detail: str) -> None:
        """Log a change."""
        if self.activity is not None:
            await self.activity.record(f"memory.{verb}", actor=actor, agent=alias, detail=detail)


def key_shown(key: str) -> str:
    """A key as it may be logged."""
    return shortened(key)
