"""The back-end of an agent that has memories is not changed by its file alone. Settled question 6."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.activity import Events
from services.agents import Agents, Change, Places
from services.errors import ConfigError
from services.home import BlockingCalls, Database, Home

SHARED = "[risk_profiles.free]\n"
BEFORE = '[agent]\nrisk_profile = "free"\ndescription = "before"\n'
AFTER = '[agent]\nrisk_profile = "free"\ndescription = "after"\n\n[memory]\nbackend = "markdown"\n'
ROW = (
    "INSERT INTO memories (id, agent, key, content, category, importance, created_at, updated_at)"
    " VALUES ('r', 'a', 'k', 'x', 'core', 0.5, 1, 1)"
)


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.database_file) as database:
        yield database


@pytest.fixture
async def agents(home: Home, database: Database, calls: BlockingCalls) -> Agents:
    home.config_file.parent.mkdir(parents=True, exist_ok=True)
    home.config_file.write_text(SHARED)
    write(home, BEFORE)
    agents = Agents(home, Events(), calls, places=Places(database))
    await agents.load()
    return agents


def write(home: Home, text: str) -> None:
    home.agent_dir("reviewer").mkdir(parents=True, exist_ok=True)
    home.agent_file("reviewer").write_text(text)


async def store(database: Database) -> None:
    await database.write(lambda c: c.execute("INSERT INTO agents VALUES ('a', 'reviewer', 1)").rowcount)
    await database.write(lambda c: c.execute(ROW).rowcount)


async def test_it_is_free_to_change_while_nothing_is_stored(home: Home, agents: Agents) -> None:
    write(home, AFTER)
    await agents.load()
    agent = agents.get("reviewer")
    assert agent.config is not None
    assert (agent.config.memory.backend, agent.problems, agent.stale) == ("markdown", (), False)


async def test_a_change_with_memories_keeps_the_last_good_config_and_names_the_command(
    home: Home, database: Database, agents: Agents
) -> None:
    await store(database)
    write(home, AFTER)
    await agents.load()
    agent = agents.get("reviewer")
    assert agent.config is not None
    assert (agent.config.memory.backend, agent.description, agent.stale) == ("sqlite", "before", True)
    (problem,) = agent.problems
    assert (problem.line, problem.key, problem.severity) == (6, "memory.backend", "error")
    assert "memories in sqlite" in problem.message
    assert "pinfold memory move reviewer --to markdown" in problem.fix
    await agents.load()
    assert agents.get("reviewer") == agent


async def test_the_next_pinfold_holds_it_back_too_and_takes_the_rest_of_the_file(
    home: Home, database: Database, agents: Agents, calls: BlockingCalls
) -> None:
    await store(database)
    write(home, AFTER)
    another = Agents(home, Events(), calls, places=Places(database))
    await another.load()
    agent = another.get("reviewer")
    assert agent.config is not None
    assert (agent.config.memory.backend, agent.description, agent.stale) == ("sqlite", "after", True)
    assert agent.problems


async def test_it_counts_as_soon_as_the_memories_are_gone_or_the_file_says_so_again(
    home: Home, database: Database, agents: Agents
) -> None:
    await store(database)
    write(home, AFTER)
    await agents.load()
    write(home, BEFORE)
    await agents.load()
    assert (agents.get("reviewer").problems, agents.get("reviewer").stale) == ((), False)
    write(home, AFTER)
    await agents.load()
    assert agents.get("reviewer").stale
    await database.write(lambda c: c.execute("DELETE FROM memories").rowcount)
    await agents.load()
    agent = agents.get("reviewer")
    assert agent.config is not None
    assert (agent.config.memory.backend, agent.description, agent.problems) == ("markdown", "after", ())


async def test_a_file_that_breaks_while_it_is_held_back_changes_nothing(
    home: Home, database: Database, agents: Agents
) -> None:
    await store(database)
    write(home, AFTER)
    await agents.load()
    write(home, "[memory\n")
    await agents.load()
    agent = agents.get("reviewer")
    assert agent.config is not None
    assert agent.config.memory.backend == "sqlite"
    assert "not TOML" in agent.problems[0].message


async def test_a_draft_of_it_is_not_saved_and_one_of_anything_else_is(
    home: Home, database: Database, agents: Agents
) -> None:
    await store(database)
    await agents.load()
    draft = await agents.edit(await agents.draft("reviewer"), Change(("memory", "backend"), "qdrant"))
    assert any("memories in sqlite" in problem.message for problem in draft.agent.problems)
    with pytest.raises(ConfigError, match="memory move reviewer --to qdrant"):
        await agents.save(draft)
    assert home.agent_file("reviewer").read_text() == BEFORE
    draft = await agents.edit(await agents.draft("reviewer"), Change(("agent", "description"), "other"))
    await agents.save(draft)
    assert agents.get("reviewer").description == "other"


async def test_what_would_forget_all_says_so(home: Home, database: Database, agents: Agents) -> None:
    await store(database)
    write(home, AFTER.replace("markdown", "none"))
    await agents.load()
    (problem,) = agents.get("reviewer").problems
    assert problem.fix == 'Set it to "sqlite", or forget them first.'


async def test_places_are_claimed_once_left_and_renamed(database: Database) -> None:
    places = Places(database)
    assert await places.claim("reviewer", "none") == "none"
    assert await places.of("reviewer") == ""
    assert await places.claim("reviewer", "postgres") == "postgres"
    assert await places.claim("reviewer", "qdrant") == "postgres"
    assert await places.claim("reviewer", "sqlite") == "postgres"
    for _ in range(2):
        await places.rename("reviewer", "critic")
    assert await places.all() == {"critic": "postgres"}
    await places.leave("critic")
    assert await places.all() == {}
    await store(database)
    assert await places.all() == {"reviewer": "sqlite"}
    assert await places.claim("reviewer", "markdown") == "sqlite"
