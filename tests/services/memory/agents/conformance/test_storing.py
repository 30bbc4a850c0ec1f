"""Storing, listing, pinning. Rows E01-E03 of the checklist."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import InputRefused
from services.memory.agents import (
    CONTENT_LIMIT,
    CORE,
    DAILY,
    Draft,
    Listing,
)
from tests.services.memory.agents.conformance.rows import HOSTILE, TEXT, everything, law
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock


async def test_a_row_is_read_as_it_was_stored(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    row = await me.store(Draft(key="editor", content="vi\n\n  and ed", session="s1", importance=0.25, pinned=True))
    assert row == await me.get("editor")
    assert (row.agent, row.content, row.category, row.session) == ("reviewer", "vi\n\n  and ed", CORE, "s1")
    assert (row.importance, row.pinned, row.superseded_by, row.created_at) == (0.25, True, "", clock.now)


@pytest.mark.parametrize("category", [CORE, DAILY])
async def test_hostile_keys_and_contents_neither_cross_nor_change(agent: AgentOf, category: str) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="other", content="untouched", category=category))
    for key in HOSTILE:
        await me.store(Draft(key=key, content=key, category=category))
    await me.store(Draft(key="after", content="untouched", category=category))
    for key in HOSTILE:
        row = await me.get(key)
        assert row is not None, key
        assert (row.key, row.content) == (key, key)
    rows = {row.key: row.content for row in await me.listed()}
    assert rows == {key: key for key in HOSTILE} | {"other": "untouched", "after": "untouched"}
    for number, key in enumerate(HOSTILE, start=1):
        assert await me.forget(key), key
        assert {row.key for row in await me.listed()} == {"other", "after", *HOSTILE[number:]}, key


@law
@given(stored=st.dictionaries(TEXT, st.tuples(TEXT, st.sampled_from([CORE, DAILY, "notes"])), max_size=6))
async def test_what_was_stored_is_there_exactly(agent: AgentOf, stored: dict[str, tuple[str, str]]) -> None:
    me = agent("reviewer")
    for row in await me.listed(Listing(superseded=True, limit=1000)):
        assert await me.forget(row.key)
    for key, (content, category) in stored.items():
        await me.store(Draft(key=key, content=content, category=category))
    assert {row.key: (row.content, row.category) for row in await me.listed()} == stored
    assert {row.key: (row.content, row.category) for row in await everything(me)} == stored
    assert await me.count() == len(stored)
    for key in stored:
        found = await me.get(key)
        assert found is not None
        assert (found.content, found.category) == stored[key]


async def test_e03_a_key_is_stored_over_and_keeps_its_id_and_its_birth(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    first = await me.store(Draft(key="k", content="one", pinned=True))
    clock.forward(60)
    second = await me.store(Draft(key="k", content="two", category=DAILY, importance=1))
    assert (second.id, second.created_at) == (first.id, first.created_at)
    assert (second.content, second.category, second.pinned) == ("two", DAILY, True)
    assert second.updated_at == clock.now
    assert await me.listed() == [second]
    assert not (await me.store(Draft(key="k", content="three", pinned=False))).pinned


async def test_e03_two_agents_may_use_the_same_key(agent: AgentOf) -> None:
    one, two = agent("one"), agent("two")
    await one.store(Draft(key="k", content="of one"))
    await two.store(Draft(key="k", content="of two"))
    assert [row.content for row in await one.listed()] == ["of one"]
    assert [row.content for row in await two.listed()] == ["of two"]


@pytest.mark.parametrize("kind", ["sqlite", "none"], indirect=True)  # it is checked before any back-end is asked
@pytest.mark.parametrize(
    "draft",
    [
        Draft(key="", content="x"),
        Draft(key="\ud800", content="x"),
        Draft(key="k" * 70_000, content="x"),
        Draft(key="k", content=""),
        Draft(key="k", content="\udfff"),
        Draft(key="k", content="x" * (CONTENT_LIMIT + 1)),
        Draft(key="k", content="é" * (CONTENT_LIMIT // 2 + 1)),
        Draft(key="k", content="x", category=""),
        Draft(key="k", content="x", category="../core"),
        Draft(key="k", content="x", category="a\nb"),
        Draft(key="k", content="x", category="c" * 65),
        Draft(key="k", content="x", session="\ud800"),
        Draft(key="k", content="x", importance=1.5),
        Draft(key="k", content="x", importance=float("nan")),
    ],
    ids=lambda draft: repr(draft)[:50].encode("ascii", "replace").decode(),
)
async def test_what_cannot_be_kept_is_refused_before_anything_is_stored(agent: AgentOf, draft: Draft) -> None:
    me = agent("reviewer")
    with pytest.raises(InputRefused):
        await me.store(draft)
    assert await me.count() == 0


async def test_lists_are_paged_newest_first_and_count_all(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    for number in range(7):
        await me.store(Draft(key=str(number), content="x", category=DAILY if number % 2 else CORE, session="s"))
        clock.forward(1)
    assert [row.key for row in await me.listed(Listing(limit=3))] == ["6", "5", "4"]
    assert [row.key for row in await me.listed(Listing(limit=3, offset=5))] == ["1", "0"]
    assert [row.key for row in await me.listed(Listing(category=DAILY))] == ["5", "3", "1"]
    assert await me.count(Listing(category=DAILY)) == 3
    assert await me.count(Listing(session="s")) == 7
    assert await me.count(Listing(session="t")) == 0
