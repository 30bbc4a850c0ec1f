"""Whose rows an agent sees and may forget. Rows E04-E08 of the checklist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import InputRefused, MemoryRefused
from services.memory.agents import (
    DAILY,
    Draft,
    Query,
)
from tests.services.memory.agents.conformance.rows import TEXT, keys, law
from tests.services.memory.agents.conftest import AgentOf


async def test_e04_only_own_and_granted_rows_are_recalled(agent: AgentOf) -> None:
    for alias in ("reviewer", "researcher", "stranger"):
        await agent(alias).store(Draft(key=alias, content=f"a fact of {alias}"))
    me = agent("reviewer", "researcher")
    for text in ("", "fact", "fac*", "ac"):
        assert sorted(keys(await me.recall(Query(text)))) == ["researcher", "reviewer"]
    assert keys(await agent("researcher").recall(Query("fact"))) == ["researcher"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ((), ["researcher", "reviewer"]),
        (("researcher",), ["researcher"]),
        (("reviewer", "stranger"), ["reviewer"]),
        (("stranger",), []),
        (("",), []),
    ],
    ids=["nobody named", "a granted one", "one of them granted", "a stranger", "an empty name"],
)
async def test_e05_the_agents_asked_for_are_cut_down_to_those_one_may_read(
    agent: AgentOf, asked: tuple[str, ...], found: list[str]
) -> None:
    for alias in ("reviewer", "researcher", "stranger"):
        await agent(alias).store(Draft(key=alias, content="a fact"))
    assert sorted(keys(await agent("reviewer", "researcher").recall(Query("fact"), asked))) == found


async def test_rows_of_siblings_that_may_not_be_read_do_not_use_up_the_limit(agent: AgentOf) -> None:
    for number in range(60):
        await agent("stranger").store(Draft(key=str(number), content="fact fact fact"))
    await agent("reviewer").store(Draft(key="mine", content="some fact among other words"))
    assert keys(await agent("reviewer").recall(Query("fact", limit=1))) == ["mine"]


async def test_e06_ones_own_row_comes_before_a_siblings(agent: AgentOf) -> None:
    me, sibling = agent("reviewer", "researcher"), agent("researcher")
    await sibling.store(Draft(key="k", content="theirs"))
    row = await me.get("k")
    assert row is not None
    assert (row.agent, row.content) == ("researcher", "theirs")
    await me.store(Draft(key="k", content="mine"))
    own, theirs = await me.get("k"), await me.get("k", "researcher")
    assert own is not None
    assert theirs is not None
    assert (own.content, theirs.content) == ("mine", "theirs")
    assert await sibling.get("k", "reviewer") is None


async def test_e07_only_own_rows_are_forgotten(agent: AgentOf) -> None:
    me, sibling, stranger = agent("reviewer", "researcher"), agent("researcher"), agent("stranger")
    for other in (sibling, stranger):
        await other.store(Draft(key=other.owner.alias, content="theirs"))
    with pytest.raises(MemoryRefused, match="belongs to researcher"):
        await me.forget("researcher")
    assert not await me.forget("stranger")
    assert not await me.forget("unknown")
    assert await sibling.count() == await stranger.count() == 1


async def test_e08_a_session_is_forgotten_for_one_agent_only(agent: AgentOf) -> None:
    me, sibling = agent("reviewer", "researcher"), agent("researcher")
    for one in (me, sibling):
        await one.store(Draft(key="a", content="x", session="s1"))
        await one.store(Draft(key="b", content="x", session="s2"))
        await one.store(Draft(key="c", content="x", category=DAILY, session="s1"))
        await one.store(Draft(key="d", content="x"))
    assert await me.forget_session("s1") == 2
    assert await me.forget_session("s1") == 0
    assert {row.key for row in await me.listed()} == {"b", "d"}
    assert await sibling.count() == 4
    with pytest.raises(InputRefused):
        await me.forget_session("")


@law
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["k", "K", "fact"]), TEXT), max_size=8),
    granted=st.sets(st.sampled_from("bc")),
    text=st.sampled_from(["", "fact", "k*", "f"]),
)
async def test_an_agent_never_sees_rows_it_may_not(
    agent: AgentOf, rows: list[tuple[str, str, str]], granted: set[str], text: str
) -> None:
    for alias, key, content in rows:
        await agent(alias).store(Draft(key=key, content=f"fact {content}"))
    me = agent("a", *granted)
    found = await me.recall(Query(text, limit=1000), "abc")
    assert {recalled.row.agent for recalled in found} <= {"a", *granted}
    assert {row.agent for row in await me.listed()} <= {"a"}
