"""Reading out, taking in and purging whole memories; and memory that is kept nowhere. Row E12 of the checklist."""

from __future__ import annotations

import msgspec
import pytest

from services.errors import InputRefused
from services.memory.agents import (
    CORE,
    DAILY,
    Backend,
    Draft,
    Query,
    Row,
)
from tests.services.memory.agents.conformance.rows import DAY, HOSTILE, everything, keys
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock


async def test_rows_read_out_are_taken_in_as_they_were_by_another_agent(agent: AgentOf, clock: Clock) -> None:
    me, heir = agent("reviewer"), agent("heir")
    for number, key in enumerate(HOSTILE):
        category = (CORE, DAILY, "notes")[number % 3]
        await me.store(Draft(key=key, content=key, category=category, session="s", pinned=number % 2 == 0))
        clock.forward(DAY / 2)
    await me.supersede("a:b", "k")
    rows = await everything(me)
    assert await heir.take_in(rows) == len(HOSTILE)

    def essence(rows: list[Row]) -> set[Row]:
        return {
            msgspec.structs.replace(row, id="", agent="", agent_id="", superseded_by="yes" if row.superseded_by else "")
            for row in rows
        }

    assert essence(await everything(heir)) == essence(rows)
    assert await everything(me) == rows


@pytest.mark.parametrize("change", [{"key": ""}, {"importance": 7.0}, {"created_at": -1}, {"id": ""}])
async def test_nothing_is_taken_in_when_one_row_is_not_acceptable(agent: AgentOf, change: dict[str, object]) -> None:
    me, heir = agent("reviewer"), agent("heir")
    row = await me.store(Draft(key="k", content="x"))
    with pytest.raises(InputRefused):
        await heir.take_in([row, msgspec.structs.replace(row, **change)])
    assert await heir.count() == 0


async def test_an_agents_rows_are_purged_and_no_others(agent: AgentOf) -> None:
    me, sibling = agent("reviewer", "researcher"), agent("researcher")
    for one in (me, sibling):
        await one.store(Draft(key="a", content="x"))
        await one.store(Draft(key="b", content="x", category=DAILY))
    await me.supersede("a", "b")
    assert await me.purge() == 2
    assert await me.purge() == 0
    assert await everything(me) == []
    assert await sibling.count() == 2
    await me.store(Draft(key="a", content="again"))
    assert keys(await me.recall(Query("again"))) == ["a"]


@pytest.mark.parametrize("kind", ["none"], indirect=True)
async def test_e12_memory_that_is_kept_nowhere_says_yes_and_forgets(agent: AgentOf, backend: Backend) -> None:
    me = agent("reviewer")
    row = await me.store(Draft(key="k", content="x"))
    assert (row.agent, row.content) == ("reviewer", "x")
    assert await me.recall(Query("x")) == []
    assert await me.listed() == await everything(me) == []
    assert await me.get("k") is None
    assert await me.count() == await me.forget_session("s") == await me.take_in([row]) == await me.purge() == 0
    await me.rename("other")
    assert not await me.forget("k")
    assert not await me.pin("k")
    assert not await me.supersede("k", "l")
    assert backend.name == "none"
