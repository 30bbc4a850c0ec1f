"""What only the rows in SQLite promise. Rows E01, E09, E13 and E18 of the checklist."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.errors import DatabaseError, MemoryRefused
from services.home import Database, Home
from services.memory.agents import Draft, Listing, Query
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock

pytestmark = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)


async def numbers(database: Database, sql: str) -> list[tuple[object, ...]]:
    return await database.read(lambda connection: connection.execute(sql).fetchall())


async def test_e01_an_agent_gets_one_id_when_it_first_stores_and_keeps_it(agent: AgentOf, database: Database) -> None:
    await asyncio.gather(*(agent("reviewer").store(Draft(key=str(number), content="x")) for number in range(20)))
    await agent("researcher").store(Draft(key="k", content="x"))
    ids = {row.agent: row.agent_id for alias in ("reviewer", "researcher") for row in await agent(alias).listed()}
    assert len(set(ids.values())) == 2
    assert await numbers(database, "SELECT count(*) FROM agents") == [(2,)]


async def test_e18_reading_makes_no_agents(agent: AgentOf, database: Database) -> None:
    me = agent("reviewer", "researcher")
    await me.recall(Query("x"))
    await me.recall(Query())
    await me.listed()
    await me.get("k")
    await me.forget("k")
    assert await numbers(database, "SELECT count(*) FROM agents") == [(0,)]


async def test_e09_lists_and_counts_are_whole_beside_thousands_of_others_newer_rows(
    agent: AgentOf, clock: Clock
) -> None:
    me, crowd = agent("reviewer", "crowd"), agent("crowd")
    for number in range(3):
        await me.store(Draft(key=f"mine {number}", content="a fact of mine"))
    clock.forward(60)
    await asyncio.gather(*(crowd.store(Draft(key=str(n), content="a fact fact fact")) for n in range(1_100)))
    assert await me.count() == 3
    assert len(await me.listed()) == 3
    assert len(await me.recall(Query("fact", limit=3), ["reviewer"])) == 3
    assert await crowd.count() == 1_100


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["store", "supersede", "forget", "prune", "pin"]),
        st.sampled_from("abc"),
        st.sampled_from("xyz"),
    ),
    max_size=12,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_the_words_searched_are_those_of_the_rows_that_are_not_superseded(
    agent: AgentOf, database: Database, steps: list[tuple[str, str, str]]
) -> None:
    me = agent("reviewer")
    for action, key, word in steps:
        match action:
            case "store":
                await me.store(Draft(key=key, content=f"{word} {word} fact"))
            case "supersede" if key != "a":
                await me.supersede(key, "a")
            case "forget":
                await me.forget(key)
            case "pin":
                await me.pin(key)
            case _:
                await me.forget_session("none")
    shown = {row.key: row.content for row in await me.listed()}
    for word in "xyz":
        found = {recalled.row.key for recalled in await me.recall(Query(word, limit=100))} - set("xyz")
        assert found == {key for key, content in shown.items() if word in content}
    for row in await me.listed(Listing(superseded=True)):
        await me.forget(row.key)

    def left(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO memory_words (memory_words) VALUES ('integrity-check')")
        return int(
            connection.execute("SELECT count(*) FROM memory_words WHERE memory_words MATCH 'fact'").fetchone()[0]
        )

    assert await database.write(left) == 0


async def test_a_changed_row_is_found_by_its_new_words_only(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="k", content="old shared"))
    await me.store(Draft(key="k", content="new shared"))
    assert await me.recall(Query("old")) == []
    assert len(await me.recall(Query("new"))) == len(await me.recall(Query("shared"))) == 1


async def test_accents_do_not_matter_to_the_search(agent: AgentOf) -> None:
    await agent("reviewer").store(Draft(key="k", content="déjà vu"))
    assert len(await agent("reviewer").recall(Query("deja"))) == 1


async def test_what_cannot_be_written_says_why(home: Home, database: Database, agent: AgentOf) -> None:
    me = agent("reviewer")
    row = await me.store(Draft(key="k", content="kept"))
    await database.write(lambda connection: connection.execute("PRAGMA query_only = ON").fetchone())
    with pytest.raises(DatabaseError):
        await me.store(Draft(key="k", content="lost"))
    assert await me.get("k") == row


async def test_rows_taken_in_beside_their_originals_get_ids_of_their_own(
    agent: AgentOf,
) -> None:
    me, heir = agent("reviewer"), agent("heir")
    rows = [await me.store(Draft(key=key, content=key)) for key in "ab"]
    await heir.store(Draft(key="a", content="there before"))
    assert await heir.take_in(rows) == 2
    assert len({row.id for one in (me, heir) for row in await one.listed()}) == 4
    assert {row.key: row.content for row in await heir.listed()} == {"a": "a", "b": "b"}


async def test_a_renamed_agent_keeps_its_rows_and_its_id(agent: AgentOf) -> None:
    me, renamed = agent("old"), agent("new")
    row = await me.store(Draft(key="k", content="fact"))
    for _ in range(2):
        await me.rename("new")
    assert await me.count() == 0
    (found,) = await renamed.recall(Query("fact"))
    assert (found.row.agent, found.row.agent_id, found.row.id) == ("new", row.agent_id, row.id)


async def test_an_agent_is_not_renamed_to_one_that_has_rows(agent: AgentOf) -> None:
    me, other = agent("old"), agent("new")
    await me.store(Draft(key="k", content="mine"))
    await other.store(Draft(key="k", content="theirs"))
    with pytest.raises(MemoryRefused, match="has memories of its own"):
        await me.rename("new")
    await other.forget("k")
    await me.rename("new")
    assert [row.content for row in await other.listed()] == ["mine"]
