"""What plans and steps work with: the rooms below, and what every operation needs to know of an agent."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from services.agents import Agent, Agents
from services.archives import Archives
from services.errors import MemoryRefused
from services.home import BlockingCalls, Database, Home
from services.memory import AgentMemories, CoreMemory, Listing, Memory, Owner
from services.memory.agents import Backend
from services.operations.journal import Journal
from services.operations.model import Reference
from services.operations.moving import Rename
from services.operations.references import Owned, TomlFile, read_files, read_owned, references_to
from services.sandbox import Sandboxes, Session


@dataclass(frozen=True)
class House:
    """The services an operation works with.

    Attributes:
        now: The clock, nanoseconds since 1970.
        rename: Renames a directory, as `os.rename` does.
    """

    home: Home
    database: Database
    agents: Agents
    sandboxes: Sandboxes
    memories: AgentMemories
    core: CoreMemory
    memory: Memory
    archives: Archives
    journal: Journal
    calls: BlockingCalls
    now: Callable[[], int]
    rename: Rename = os.rename

    async def facts(self, alias: str) -> Facts:
        """Look at everything there is of an agent, as it is now.

        Raises:
            DatabaseError: The database cannot be read; nothing can be planned then.
        """
        await self.agents.load()
        files = await self.calls.run(read_files, self.home, self.agents)
        sessions = await self.sandboxes.sessions()
        owned = await self.database.read(lambda c: read_owned(c, alias))
        references = await self.calls.run(references_to, alias, self.home, self.agents, files, sessions, owned)
        own = [session for session in sessions if session.agent == alias]
        directory = self.home.agent_dir(alias)
        guests = {
            session.agent
            for session in sessions
            if session.agent != alias
            and session.state.live
            and any(Path(mount.source).is_relative_to(directory) for mount in session.spec.mounts)
        }
        return Facts(alias, self.agents.by_alias.get(alias), files, own, owned, references, tuple(sorted(guests)))

    def backend(self, agent: Agent) -> Backend:
        """Where an agent's memory is.

        Raises:
            MemoryRefused: It cannot be told, or cannot be reached from here.
        """
        name = agent.config.memory.backend if agent.config else ""
        backend = self.memories.backends.get(name)
        if backend is None:
            why = f"it is in {name}, which is unavailable here" if name else "its file cannot be used"
            raise MemoryRefused(f"cannot reach the memory of {agent.alias}", why=why)
        return backend

    async def rows_of(self, agent: Agent) -> int:
        """How many rows an agent's back-end has of it, superseded ones too.

        Raises:
            PinfoldError: It cannot be told.
        """
        owner = Owner(agent.alias, agent.workspace)
        return await self.backend(agent).count(owner, Listing(superseded=True))


@dataclass(frozen=True)
class Facts:
    """An agent with all that is its own and all that names it.

    Attributes:
        agent: None when there is none of this alias.
        sessions: Its own, newest first.
        guests: Agents that have its directory, or a part of it, in a sandbox that runs.
    """

    alias: str
    agent: Agent | None
    files: tuple[TomlFile, ...]
    sessions: list[Session]
    owned: Owned
    references: tuple[Reference, ...]
    guests: tuple[str, ...] = ()

    @property
    def live(self) -> list[Session]:
        """Its sessions that run or are about to."""
        return [session for session in self.sessions if session.state.live]

    @property
    def owner(self) -> Owner:
        """Whose rows they are, for back-ends."""
        assert self.agent is not None
        return Owner(self.alias, self.agent.workspace)

    def file_of(self, path: str) -> TomlFile | None:
        """One of the TOML files."""
        return next((file for file in self.files if str(file.path) == path), None)


def default_place(home: Home, agent: Agent) -> bool:
    """Whether an agent's workspace lies in its own directory, and so goes where that goes."""
    own = Path(os.path.realpath(home.agent_dir(agent.alias)))
    return Path(os.path.realpath(agent.workspace)).is_relative_to(own)
