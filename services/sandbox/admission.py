"""Keeps a session's start and an operation on the same agent apart: whichever comes second is refused, and told why."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from services.agents import Agent
from services.errors import SessionRefused
from services.home import BlockingCalls, Home
from services.sandbox.session_files import take

_LOCK_SECONDS = 3.0

HeldBy = Callable[[str], Awaitable[str]]
"""Says what is being done to an agent that no session may start meanwhile; "" when nothing is."""


async def nothing(alias: str) -> str:
    """Say that nothing is being done."""
    return ""


class Admission:
    """Lets starts in, one agent at a time.

    Args:
        home: Where the locks are.
        calls: For the disk.
        held_by: Asked before a start is recorded, under the agent's lock.
    """

    def __init__(self, home: Home, calls: BlockingCalls, held_by: HeldBy = nothing) -> None:
        self._home = home
        self._calls = calls
        self._held_by = held_by

    @asynccontextmanager
    async def of(self, agent: Agent) -> AsyncGenerator[None, None]:
        """Hold an agent's lock while a start is recorded: an operation sees the record, or the start sees it.

        Raises:
            SessionRefused: An operation is at the agent, or it is gone.
        """
        await self._refuse_held(agent.alias)
        lock = self._home.agent_lock(agent.alias)
        if not await take(lock, within=_LOCK_SECONDS):
            await self._refuse_held(agent.alias)
            raise SessionRefused(
                f"{agent.alias} cannot be started", why="another Pinfold is changing it", fix="Try again shortly."
            )
        try:
            await self._refuse_held(agent.alias)
            if not await self._calls.run(agent.file.exists):
                raise SessionRefused(f"{agent.alias} cannot be started", why=f"{agent.file} is there no more")
            yield
        finally:
            lock.release()

    async def _refuse_held(self, alias: str) -> None:
        if reason := await self._held_by(alias):
            raise SessionRefused(f"{alias} cannot be started", why=reason)
