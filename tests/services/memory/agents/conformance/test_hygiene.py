"""How long rows are kept. Row E17 of the checklist."""

from __future__ import annotations

import pytest

from services.memory.agents import (
    CONVERSATION,
    CORE,
    DAILY,
    Draft,
    Retention,
)
from tests.services.memory.agents.conformance.rows import DAY
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock


@pytest.mark.parametrize("dry_run", [True, False], ids=["dry run", "for good"])
async def test_e17_rows_are_kept_as_long_as_their_category_says(agent: AgentOf, clock: Clock, dry_run: bool) -> None:
    me = agent("reviewer")
    for category in (CORE, DAILY, CONVERSATION):
        await me.store(Draft(key=f"{category} old", content="four", category=category))
        await me.store(Draft(key=f"{category} pinned", content="x", category=category, pinned=True))
    clock.forward(31 * DAY)
    await me.store(Draft(key="conversation new", content="x", category=CONVERSATION))
    pruned = await me.tidy(Retention(), clock.now, dry_run=dry_run)
    assert (dict(pruned.rows), pruned.size, pruned.total) == ({CONVERSATION: 1}, 4, 1)
    assert await me.count() == (7 if dry_run else 6)
    assert (await me.get("conversation old") is None) is not dry_run


async def test_a_core_row_ages_from_its_creation_and_others_from_when_they_were_stored_last(
    agent: AgentOf, clock: Clock
) -> None:
    me = agent("reviewer")
    for category in (CORE, DAILY):
        await me.store(Draft(key=category, content="x", category=category))
    clock.forward(5 * DAY)
    for category in (CORE, DAILY):
        await me.store(Draft(key=category, content="y", category=category))
    pruned = await me.tidy(Retention({CORE: 3, DAILY: 3}), clock.now)
    assert dict(pruned.rows) == {CORE: 1}


async def test_hygiene_of_one_agent_leaves_the_others_alone(agent: AgentOf, clock: Clock) -> None:
    for alias in ("reviewer", "researcher"):
        await agent(alias).store(Draft(key="k", content="x", category=CONVERSATION))
    clock.forward(31 * DAY)
    assert (await agent("reviewer", "researcher").tidy(Retention(), clock.now)).total == 1
    assert await agent("researcher").count() == 1


async def test_a_row_can_be_pinned_and_unpinned(agent: AgentOf) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="k", content="x"))
    for pinned in (True, False):
        assert await me.pin("k", pinned)
        row = await me.get("k")
        assert row is not None
        assert row.pinned is pinned
    assert not await me.pin("unknown")
