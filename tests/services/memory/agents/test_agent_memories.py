"""Whose memory is where: what the agents' files decide."""

from __future__ import annotations

import pytest

from services.activity import Events
from services.agents import Agents
from services.errors import AgentNotFound, ConfigError, MemoryRefused
from services.home import BlockingCalls, Database, Home
from services.memory.agents import AgentMemories, Draft, Query
from tests.services.memory.conftest import Clock

FILES = {
    "reviewer": '[memory]\nread_memory_from = ["researcher", "gone"]\n',
    "researcher": "[agent]\n",
    "writer": '[memory]\nbackend = "markdown"\nread_memory_from = ["editor"]\n',
    "editor": '[memory]\nbackend = "markdown"\n',
    "mixed": '[memory]\nread_memory_from = ["editor"]\n',
    "forgetful": '[memory]\nbackend = "none"\n',
    "far": '[memory]\nbackend = "qdrant"\n',
    "broken": "[memory\n",
}


@pytest.fixture
async def memories(home: Home, database: Database, calls: BlockingCalls, clock: Clock) -> AgentMemories:
    for alias, text in FILES.items():
        home.agent_dir(alias).mkdir(parents=True)
        home.agent_file(alias).write_text(text)
    agents = Agents(home, Events(), calls)
    await agents.load()
    return AgentMemories(home, agents, database, calls, clock)


@pytest.mark.parametrize(
    ("alias", "backend", "readable"),
    [
        ("reviewer", "sqlite", ("reviewer", "researcher")),
        ("researcher", "sqlite", ("researcher",)),
        ("writer", "markdown", ("writer", "editor")),
        ("forgetful", "none", ("forgetful",)),
    ],
)
async def test_an_agents_file_says_where_its_memory_is_and_whose_it_reads(
    memories: AgentMemories, alias: str, backend: str, readable: tuple[str, ...]
) -> None:
    memory = memories.of(alias)
    assert (memory.backend.name, memory.readable) == (backend, readable)


@pytest.mark.parametrize(
    ("alias", "error", "words"),
    [
        ("nobody", AgentNotFound, "nobody"),
        ("broken", ConfigError, "agent.toml"),
        ("mixed", ConfigError, "agent.toml:2.*editor keeps its memory in markdown, mixed in sqlite"),
        ("far", MemoryRefused, "in qdrant, which is unavailable here"),
    ],
    ids=["no such agent", "a broken file", "another back-end", "a back-end that is not here"],
)
async def test_memory_that_cannot_be_had_says_why(
    memories: AgentMemories, alias: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        memories.of(alias)


@pytest.mark.parametrize(("reader", "other"), [("reviewer", "researcher"), ("writer", "editor")])
async def test_what_one_agent_stores_the_granted_one_recalls(memories: AgentMemories, reader: str, other: str) -> None:
    await memories.of(other).store(Draft(key="k", content="a fact"))
    (found,) = await memories.of(reader).recall(Query("fact"))
    assert found.row.agent == other
    await memories.of(reader).store(Draft(key="k", content="another fact"))
    assert len(await memories.of(other).recall(Query("fact"))) == 1
