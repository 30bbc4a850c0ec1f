"""The agents of a home as their files tell: read, looked up, and watched."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing

from services.activity import ActivityLog, AgentsChanged, Events
from services.agents.agent import Agent
from services.agents.aliases import nearest
from services.agents.looking import Look, look, look_at_text
from services.agents.model import PinfoldConfig
from services.agents.places import Places
from services.agents.positions import key_finder, line_finder
from services.agents.problems import KeyPath, Problem
from services.agents.reading import LIMIT
from services.agents.watching import reasons_to_look
from services.errors import AgentNotFound, DatabaseError
from services.home import BlockingCalls, Home, read_file

_SETTLING_SECONDS = 0.25

_log = logging.getLogger(__name__)


class KnownAgents:
    """Reads `pinfold.toml` and every `agent.toml` of a home.

    Args:
        home: Where they lie; need not exist.
        events: Told of every change, whoever made it.
        calls: Reads and parses off the event loop.
        activity: Records what is created, enabled and disabled; None records nothing.
        places: Says which back-end each agent's memory is in, which its file then cannot change; None knows of none.
    """

    def __init__(
        self,
        home: Home,
        events: Events,
        calls: BlockingCalls,
        activity: ActivityLog | None = None,
        places: Places | None = None,
    ) -> None:
        self._home = home
        self._events = events
        self._calls = calls
        self._activity = activity
        self._places = places
        self._seen = Look()
        self._looking = asyncio.Lock()

    async def load(self) -> None:
        """Read all files, or again those that changed; wrong files become problems, not errors."""
        await self._look(patient=False)

    def all(self) -> tuple[Agent, ...]:
        """Every agent, by alias, usable or not."""
        return tuple(self._seen.agents.values())

    @property
    def by_alias(self) -> Mapping[str, Agent]:
        """Every agent by its alias."""
        return self._seen.agents

    def get(self, alias: str) -> Agent:
        """Find one agent.

        Raises:
            AgentNotFound: There is none; names the nearest alias.
        """
        try:
            return self._seen.agents[alias]
        except KeyError:
            near = nearest(alias, self._seen.agents)
            fix = f'Did you mean "{near}"?' if near else "List them with `pinfold agents list`."
            raise AgentNotFound(f'there is no agent "{alias}"', fix=fix) from None

    @property
    def shared(self) -> PinfoldConfig:
        """What `pinfold.toml` says, or said when it was last good; all defaults without one."""
        return self._seen.shared

    @property
    def shared_problems(self) -> tuple[Problem, ...]:
        """What is wrong with `pinfold.toml` as it is now, or with the directory of agents."""
        return self._seen.shared_problems

    def lines(self, alias: str) -> Callable[[KeyPath], int]:
        """Make a look-up of lines in an `agent.toml` as it is now; it answers 0 when the file is not usable."""
        file = self._seen.files.get(alias)
        return line_finder(file.data if file and file.good and file.data else b"")

    def shared_lines(self) -> Callable[[KeyPath], int]:
        """Make a look-up of lines in `pinfold.toml` as it is now; it answers 0 when the file is not usable."""
        file = self._seen.shared_file
        return line_finder(file.data if file and file.good and file.data else b"")

    def shared_keys(self) -> Callable[[KeyPath], bool]:
        """Make a look-up of whether a key is written in `pinfold.toml`; it answers true when the file is not usable."""
        file = self._seen.shared_file
        return key_finder(file.data) if file and file.good and file.data else lambda _: True

    def as_if(self, alias: str, data: bytes) -> Agent:
        """What an agent would be if its file held `data`; nothing is written.

        Args:
            alias: The agent; need not exist.
            data: The bytes its `agent.toml` would have.
        """
        return look_at_text(self._home, self._seen, alias, data)

    async def source(self, alias: str) -> str:
        """Read the text of an `agent.toml` as it is now, to be shown; "" when it is not there.

        Raises:
            AgentNotFound: There is no such agent.
            PinfoldError: It cannot be read.
        """
        file = self.get(alias).file
        try:
            text = await self._calls.run(read_file, file, LIMIT)
        except FileNotFoundError:
            return ""
        return text.data.decode("utf-8", errors="replace").removeprefix("\ufeff")

    async def watch(self) -> None:
        """Follow the files until cancelled; a change is known within a second and published as `AgentsChanged`.

        A file that breaks or goes is looked at twice, a quarter of a second apart, before it counts: editors leave
        files missing, empty or half written for a moment.
        """
        async with aclosing(reasons_to_look(self._home, self._calls)) as reasons:
            async for _ in reasons:
                if await self._look(patient=True):
                    await asyncio.sleep(_SETTLING_SECONDS)
                    await self._look(patient=False)

    async def _look(self, *, patient: bool) -> bool:
        """Look at the disk and publish what changed; return whether something should be looked at again."""
        async with self._looking:
            places = await self._known_places()
            seen, changed = await self._calls.run(_look_and_compare, self._home, self._seen, patient, places)
            self._seen = seen
        for event in changed:
            self._events.publish(event)
        return seen.doubtful

    async def _known_places(self) -> Mapping[str, str]:
        if self._places is None:
            return {}
        try:
            return await self._places.all()
        except DatabaseError as error:  # the files can be read all the same
            _log.warning("cannot tell where memories are: %s", error)
            return self._seen.places


def _look_and_compare(
    home: Home, before: Look, patient: bool, places: Mapping[str, str]
) -> tuple[Look, tuple[AgentsChanged, ...]]:
    seen = look(home, before, patient=patient, places=places)
    return seen, tuple(_changes(before, seen))


def _changes(before: Look, after: Look) -> Iterator[AgentsChanged]:
    if (before.shared, before.shared_problems) != (after.shared, after.shared_problems):
        yield AgentsChanged()
        return
    if before.agents is after.agents:
        return
    for alias in before.agents.keys() | after.agents.keys():
        if before.agents.get(alias) != after.agents.get(alias):
            yield AgentsChanged(alias)
