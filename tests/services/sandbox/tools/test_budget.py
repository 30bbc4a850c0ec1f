"""Actions of an agent are counted over an hour, whoever serves them; one that fails costs nothing."""

from __future__ import annotations

import asyncio

import pytest

from services.errors import SessionRefused
from services.home import Database, Home
from services.sandbox.tools import ActionBudget
from tests.services.sandbox.clock import Clock


@pytest.fixture
def budget(database: Database, clock: Clock) -> ActionBudget:
    return ActionBudget(database, clock)


async def act(budget: ActionBudget, agent: str = "worker", limit: int = 1) -> None:
    async with budget.action(agent, limit):
        pass


async def test_what_is_beyond_the_limit_is_refused_and_says_so(budget: ActionBudget) -> None:
    await act(budget)
    with pytest.raises(SessionRefused, match="1 actions in the last hour are all its budget allows"):
        await act(budget)


async def test_a_limit_of_nothing_blocks_all(budget: ActionBudget) -> None:
    with pytest.raises(SessionRefused):
        await act(budget, limit=0)


async def test_an_action_that_fails_gives_its_slot_back(budget: ActionBudget) -> None:
    with pytest.raises(ValueError, match="broken"):
        async with budget.action("worker", 1):
            raise ValueError("broken")
    await act(budget)


async def test_slots_come_back_an_hour_later(budget: ActionBudget, clock: Clock) -> None:
    await act(budget)
    clock.advance(3590)
    assert await budget.left("worker", 1) == 0
    clock.advance(10)
    await act(budget)


async def test_agents_do_not_take_one_anothers_slots(budget: ActionBudget) -> None:
    await act(budget, "worker")
    await act(budget, "other")


async def test_many_at_once_never_take_more_than_there_are(budget: ActionBudget) -> None:
    async def hold() -> bool:
        try:
            async with budget.action("worker", 5):
                await asyncio.sleep(0)
        except SessionRefused:
            return False
        return True

    assert sum(await asyncio.gather(*(hold() for _ in range(20)))) == 5


async def test_another_process_counts_the_same_actions(budget: ActionBudget, home: Home, clock: Clock) -> None:
    await act(budget)
    async with Database(home.database_file) as other:
        assert await ActionBudget(other, clock).left("worker", 3) == 2
