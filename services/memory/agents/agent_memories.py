"""The memories of a home's agents, each where the agent's file says it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.agents import Agent, AgentConfig, Agents
from services.errors import ConfigError, MemoryRefused
from services.home import BlockingCalls, Database, Home
from services.memory.agents.agent_memory import AgentMemory
from services.memory.agents.backend import Backend
from services.memory.agents.markdown import MarkdownBackend
from services.memory.agents.model import Owner, new_id
from services.memory.agents.nothing import NoBackend
from services.memory.agents.sqlite import SqliteBackend
from services.memory.screening import Screening


class AgentMemories:
    """Hands out the memory of any agent.

    Args:
        home: Where the locks of memory files lie.
        agents: Says where each agent's memory is and whose it may read.
        database: The home's.
        calls: Threads for files and for the scan.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
        screening: What is done about threats and secrets in what agents store.

    Attributes:
        backends: By name.
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
    ) -> None:
        self._agents = agents
        self._calls = calls
        self._screening = screening or Screening()
        self.backends: Mapping[str, Backend] = {
            backend.name: backend
            for backend in (
                SqliteBackend(database, now, make_id),
                MarkdownBackend(home, calls, now, make_id),
                NoBackend(now, make_id),
            )
        }

    def of(self, alias: str) -> AgentMemory:
        """The memory of an agent, with the siblings it may read; a sibling that does not exist is left out.

        Raises:
            AgentNotFound: No agent has this alias.
            ConfigError: Its file was never usable, or it may read a sibling whose memory is in another back-end.
            MemoryRefused: Its back-end cannot be reached from here.
        """
        agent = self._agents.get(alias)
        config = _config_of(agent)
        backend = self.backends.get(config.memory.backend)
        if backend is None:
            raise MemoryRefused(
                f"cannot reach the memory of {alias}",
                why=f"it is in {config.memory.backend}, which is unavailable here",
                fix=f"Available: {', '.join(self.backends)}.",
            )
        granted = [self._sibling(agent, config, number) for number in range(len(config.memory.read_memory_from))]
        return AgentMemory(
            _owner_of(agent), [owner for owner in granted if owner], backend, self._screening, self._calls
        )

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
        return _owner_of(sibling)


def _config_of(agent: Agent) -> AgentConfig:
    if agent.config is not None:
        return agent.config
    problem = next((problem for problem in agent.problems if problem.severity == "error"), None)
    what = problem.message if problem else "the file cannot be used"
    raise ConfigError(what, file=agent.file, line=problem.line if problem else 0, key=problem.key if problem else "")


def _owner_of(agent: Agent) -> Owner:
    return Owner(agent.alias, agent.workspace)
