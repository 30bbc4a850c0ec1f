"""The memories of a home's agents, each where the agent's file says it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from services.activity import ActivityLog
from services.agents import NO_EMBEDDER, Agent, AgentConfig, Agents, MemoryScreening, Places, VectorSection
from services.errors import ConfigError, EmbedderUnavailable, InputRefused, MemoryRefused
from services.home import BlockingCalls, Database, Home
from services.memory.agents.agent_memory import AgentMemory
from services.memory.agents.backend import BackendStatus
from services.memory.agents.backends import make_backends
from services.memory.agents.model import Owner, new_id
from services.memory.agents.moving import Mover
from services.memory.agents.sqlite import SqliteBackend
from services.memory.agents.upkeep import Upkeep
from services.memory.agents.vectors import Arrears, Embedding, EmbedRun, Likeness, VectorRecall
from services.memory.scopes.model import shortened
from services.memory.screening import Screening


class AgentMemories:
    """Hands out the memory of any agent.

    Args:
        home: Where the locks of memories lie.
        agents: Says where each agent's memory is and whose it may read, and how the servers are reached.
        database: The home's.
        calls: Threads for files and for the scan.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
        screening: What is done about threats and secrets in what agents store; None is as `pinfold.toml` says.
        activity: Records every change; None records nothing.
        env: Where addresses, keys and programs of back-ends are found.

    Attributes:
        backends: By name.
        upkeep: Stands by every change.
        embedding: Turns texts into vectors.
        arrears: Embeds what was stored.
    """

    def __init__(
        self,
        home: Home,
        agents: Agents,
        database: Database,
        calls: BlockingCalls,
        now: Callable[[], int],
        make_id: Callable[[], str] = new_id,
        screening: Screening | None = None,
        activity: ActivityLog | None = None,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        self._agents = agents
        self._database = database
        self._calls = calls
        self._screening = screening
        self.backends = make_backends(
            home, lambda: agents.shared.memory, database, calls, env, now, make_id, self._has_embedder
        )
        self.upkeep = Upkeep(home, Places(database), activity, now)
        self.embedding = Embedding(agents, env, calls)
        self._recalling = VectorRecall(database, calls, self.embedding)
        self.arrears = Arrears(database, self.embedding, self.vectors_of)

    def of(self, alias: str, actor: str = "operator") -> AgentMemory:
        """The memory of an agent, with the siblings it may read; a sibling that does not exist is left out.

        Args:
            alias: The agent.
            actor: Who asks, for the activity log: `operator`, `pinfold` or `agent:<alias>`.

        Raises:
            AgentNotFound: No agent has this alias.
            ConfigError: Its file was never usable, or it may read a sibling whose memory is in another back-end.
        """
        agent = self._agents.get(alias)
        config = config_of(agent)
        granted = [self._sibling(agent, config, number) for number in range(len(config.memory.read_memory_from))]
        return AgentMemory(
            owner_of(agent),
            [owner for owner in granted if owner],
            self.backends[config.memory.backend],
            self._screening or screening_of(self._agents.shared.memory.screening),
            self._calls,
            self.upkeep,
            actor,
            self._likeness_of(alias),
        )

    def embed_run(self, alias: str, actor: str = "operator") -> EmbedRun:
        """Prepare to give all memories of an agent vectors of its embedder.

        Args:
            alias: The agent.
            actor: Who does it, for the activity log.

        Raises:
            AgentNotFound: No agent has this alias.
            ConfigError: Its file was never usable.
            MemoryRefused: It has no embedder, or its back-end has no vectors.
        """
        agent = self._agents.get(alias)
        memory = config_of(agent).memory
        what = f"the memories of {alias} cannot be embedded"
        if memory.vectors.embedder == NO_EMBEDDER:
            fix = "Name a connector of pinfold.toml as embedder in its [memory.vectors]."
            raise MemoryRefused(what, why="it has no embedder", fix=fix)
        if memory.backend != SqliteBackend.name:
            why = f"they are in {memory.backend}, which has no vectors"
            raise MemoryRefused(what, why=why, fix=f"Move them with: pinfold memory move {alias} --to sqlite")
        return EmbedRun(owner_of(agent), memory.vectors, self._database, self.embedding, self.upkeep, actor)

    def vectors_of(self, alias: str) -> VectorSection | None:
        """What an agent's file says of vectors; None where it has none."""
        agent = self._agents.by_alias.get(alias)
        memory = agent.config.memory if agent and agent.config else None
        if memory is None or memory.backend != SqliteBackend.name or memory.vectors.embedder == NO_EMBEDDER:
            return None
        return memory.vectors

    def mover(self, alias: str, backend: str, actor: str = "operator") -> Mover:
        """Prepare to move an agent's memory to another back-end.

        Args:
            alias: The agent.
            backend: The name of the other.
            actor: Who moves it, for the activity log.

        Raises:
            AgentNotFound: No agent has this alias.
            ConfigError: Its file was never usable.
            InputRefused: There is no such back-end.
        """
        agent = self._agents.get(alias)
        source = config_of(agent).memory.backend
        if backend not in self.backends:
            known = ", ".join(self.backends)
            raise InputRefused(f"there is no back-end {shortened(backend)}", fix=f"There are: {known}.")
        owner = owner_of(agent)
        return Mover(owner, source, backend, self.backends, self._agents, self._database, self.upkeep, actor)

    async def statuses(self) -> tuple[BackendStatus, ...]:
        """Look whether the back-ends and the embedders that agents use answer, all at once."""
        configs = [agent.config for agent in self._agents.all() if agent.config]
        used = {config.memory.backend for config in configs}
        sections = {agent.alias: self.vectors_of(agent.alias) for agent in self._agents.all()}
        embedders = {(each.embedder, each.dimensions): each for each in sections.values() if each}
        return tuple(
            await asyncio.gather(
                *(backend.status() for name, backend in self.backends.items() if name in used),
                *(self._embedder_status(section) for _, section in sorted(embedders.items())),
            )
        )

    async def close(self) -> None:
        """Let go of the connections to servers."""
        async with AsyncExitStack() as closing:
            for backend in self.backends.values():
                closing.push_async_callback(backend.close)
            closing.push_async_callback(self.embedding.close)
            closing.push_async_callback(self.arrears.close)

    async def _embedder_status(self, section: VectorSection) -> BackendStatus:
        name = f"embedder {section.embedder}"
        try:
            space = await self.embedding.space(self.embedding.embedder(section), patient=False)
        except EmbedderUnavailable as error:
            return BackendStatus.of(name, error)
        return BackendStatus(name, True, f"{space.model}, {space.dimensions:,} dimensions")

    def _has_embedder(self, alias: str) -> bool:
        return self.vectors_of(alias) is not None

    def _likeness_of(self, alias: str) -> Likeness | None:
        section = self.vectors_of(alias)
        return Likeness(alias, section, self._recalling, self.arrears) if section else None

    def _sibling(self, agent: Agent, config: AgentConfig, number: int) -> Owner | None:
        alias = config.memory.read_memory_from[number]
        sibling = self._agents.by_alias.get(alias)
        if sibling is None or sibling.config is None:
            return None
        other = sibling.config.memory.backend
        if other != config.memory.backend:
            raise ConfigError(
                f"{alias} keeps its memory in {other}, {agent.alias} in {config.memory.backend}",
                file=agent.file,
                line=self._agents.lines(agent.alias)(("memory", "read_memory_from", number)),
                key=f"memory.read_memory_from[{number}]",
                fix="Read only siblings with the same back-end.",
            )
        return owner_of(sibling)


def screening_of(section: MemoryScreening) -> Screening:
    """What `pinfold.toml` says is done about threats and secrets."""
    return Screening(section.threats, section.secrets, section.strict, section.personal)


def config_of(agent: Agent) -> AgentConfig:
    """What an agent's file says, or said when it was last good.

    Raises:
        ConfigError: It was never usable; names what is wrong.
    """
    if agent.config is not None:
        return agent.config
    problem = next((problem for problem in agent.problems if problem.severity == "error"), None)
    what = problem.message if problem else "the file cannot be used"
    raise ConfigError(what, file=agent.file, line=problem.line if problem else 0, key=problem.key if problem else "")


def owner_of(agent: Agent) -> Owner:
    """Whose rows they are, for back-ends."""
    return Owner(agent.alias, agent.workspace)
