"""Whose memory is where: what the agents' files decide."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import Agents, Places
from services.errors import AgentNotFound, ConfigError, MemoryUnavailable
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
SHARED = '[memory.qdrant]\nurl = "http://127.0.0.1:1"\n'


@pytest.fixture
async def memories(home: Home, database: Database, calls: BlockingCalls, clock: Clock) -> AsyncIterator[AgentMemories]:
    for alias, text in FILES.items():
        home.agent_dir(alias).mkdir(parents=True)
        home.agent_file(alias).write_text(text)
    home.config_file.write_text(SHARED)
    agents = Agents(home, Events(), calls, places=Places(database))
    await agents.load()
    memories = AgentMemories(home, agents, database, calls, clock)
    yield memories
    await memories.close()


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
    ],
    ids=["no such agent", "a broken file", "another back-end"],
)
async def test_memory_that_cannot_be_had_says_why(
    memories: AgentMemories, alias: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        memories.of(alias)


async def test_a_server_that_is_away_says_what_why_and_what_to_do_and_stops_no_other_agent(
    memories: AgentMemories,
) -> None:
    far = memories.of("far")
    for operation in (far.store(Draft(key="k", content="x")), far.recall(Query("x")), far.count()):
        with pytest.raises(MemoryUnavailable, match=r"memory in qdrant: no server answers at http://127.*Look whether"):
            await operation
    await memories.of("reviewer").store(Draft(key="k", content="x"))
    assert await memories.of("reviewer").count() == 1
    statuses = {status.name: status.usable for status in await memories.statuses()}
    assert statuses == {"sqlite": True, "markdown": True, "none": True, "qdrant": False}


@pytest.mark.parametrize(("reader", "other"), [("reviewer", "researcher"), ("writer", "editor")])
async def test_what_one_agent_stores_the_granted_one_recalls(memories: AgentMemories, reader: str, other: str) -> None:
    await memories.of(other).store(Draft(key="k", content="a fact"))
    (found,) = await memories.of(reader).recall(Query("fact"))
    assert found.row.agent == other
    await memories.of(reader).store(Draft(key="k", content="another fact"))
    assert len(await memories.of(other).recall(Query("fact"))) == 1
