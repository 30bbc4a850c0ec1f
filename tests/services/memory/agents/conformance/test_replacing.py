"""A row stored over the one that was seen there, and never over another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest

from services.errors import ChangedMeanwhile
from services.memory.agents import AgentMemory, Draft, Row
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock

_WRITERS, _EACH = 4, 5


@dataclass(frozen=True)
class Change:
    """What somebody else does to the row `note` between being seen and being stored over."""

    name: str
    make: Callable[[AgentMemory], object]


CHANGES = [
    Change("stored again", lambda me: me.store(Draft(key="note", content="theirs"))),
    Change("stored as it was", lambda me: me.store(Draft(key="note", content="before"))),
    Change("pinned", lambda me: me.pin("note")),
    Change("superseded", lambda me: me.supersede("note", "other")),
    Change("deleted", lambda me: me.forget("note")),
]


def over(row: Row | None, content: str) -> Draft:
    return Draft(key="note", content=content, seen=row)


async def test_a_row_is_stored_over_the_one_that_was_seen(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    seen = await me.store(Draft(key="note", content="before"))
    clock.forward(1)
    row = await me.store(over(seen, "mine"))
    assert (row.id, row.content, row.created_at) == (seen.id, "mine", seen.created_at)
    assert await me.get("note") == row


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
async def test_a_row_that_was_changed_since_is_not_stored_over(agent: AgentOf, clock: Clock, change: Change) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="other", content="other"))
    seen = await me.store(Draft(key="note", content="before"))
    clock.forward(1)
    await change.make(me)  # type: ignore[misc]
    theirs = await me.get("note")
    with pytest.raises(ChangedMeanwhile, match="note"):
        await me.store(over(seen, "mine"))
    assert await me.get("note") == theirs


async def test_where_nothing_was_seen_nothing_is_stored_over(agent: AgentOf) -> None:
    me = agent("reviewer")
    row = await me.store(over(None, "mine"))
    with pytest.raises(ChangedMeanwhile):
        await me.store(over(None, "again"))
    assert await me.get("note") == row


async def test_writers_that_race_lose_no_change(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    await me.store(Draft(key="note", content="0"))

    async def count_up() -> None:
        for _ in range(_EACH):
            while True:
                seen = await me.get("note")
                assert seen is not None
                clock.forward(0.001)
                try:
                    await me.store(over(seen, str(int(seen.content) + 1)))
                    break
                except ChangedMeanwhile:
                    continue

    await asyncio.gather(*(count_up() for _ in range(_WRITERS)))
    row = await me.get("note")
    assert row is not None
    assert int(row.content) == _WRITERS * _EACH


async def test_what_was_seen_is_compared_and_not_stored(agent: AgentOf) -> None:
    me = agent("reviewer")
    seen = await me.store(Draft(key="note", content="before"))
    with pytest.raises(ChangedMeanwhile):
        await me.store(over(msgspec.structs.replace(seen, content="never was"), "mine"))
    assert await me.get("note") == seen


async def test_a_change_is_put_back_as_it_was(agent: AgentOf, clock: Clock) -> None:
    me = agent("reviewer")
    before = await me.store(Draft(key="note", content="before", pinned=True))
    clock.forward(1)
    left = {"note": await me.store(over(before, "mine")), "new": await me.store(Draft(key="new", content="new"))}
    clock.forward(1)
    await me.put_back({"note": before, "new": None}, left)
    assert await me.get("note") == before
    assert await me.get("new") is None


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
async def test_a_change_is_not_put_back_over_another(agent: AgentOf, clock: Clock, change: Change) -> None:
    me = agent("reviewer")
    other = await me.store(Draft(key="other", content="other"))
    before = await me.store(Draft(key="note", content="earlier"))
    left = {"note": await me.store(over(before, "before")), "other": await me.store(Draft(key="other", content="left"))}
    clock.forward(1)
    await change.make(me)  # type: ignore[misc]
    theirs = await me.get("note")
    with pytest.raises(ChangedMeanwhile, match="note"):
        await me.put_back({"note": before, "other": other}, left)
    assert (await me.get("note"), await me.get("other")) == (theirs, left["other"])
    await me.put_back({"note": before, "other": other}, left, anyway=True)
    row = await me.get("note")
    assert row is not None
    assert row.content == "earlier"
