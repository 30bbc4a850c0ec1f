"""The first look at memory: what was changed last, and how much each agent has stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.home import Database
from services.memory import Draft, Memory, Newest, Scope, newest_change, rows_by_agent
from services.memory.agents.model import Owner, new_id
from services.memory.agents.sqlite import SqliteBackend
from services.memory.screening import Screened
from tests.services.memory.conftest import Clock, Keys


async def store(database: Database, clock: Clock, alias: str, key: str) -> None:
    backend = SqliteBackend(database, clock, new_id)
    await backend.store(Owner(alias, Path("/nowhere")), Draft(key=key, content=key), Screened(key))


async def test_nothing_is_newest_where_nothing_is_remembered(database: Database, clock: Clock) -> None:
    assert await newest_change(database, clock()) is None


@pytest.mark.parametrize("last", ["an old key", "a new key", "a row"])
async def test_the_newest_is_what_was_changed_last(
    memory: Memory, of: Keys, database: Database, clock: Clock, last: str
) -> None:
    async def row() -> None:
        await store(database, clock, "reviewer", "style")

    async def old_key() -> None:
        await of("user:42").set("a", 1)

    async def new_key() -> None:
        await of("team:core").set("b", 2)

    changes = {"an old key": old_key, "a new key": new_key, "a row": row}
    await old_key()
    for change in (*(change for name, change in changes.items() if name != last), changes[last]):
        clock.forward(1)
        await change()
    assert (
        await newest_change(database, clock())
        == {
            "an old key": Newest(Scope.parse("user:42"), "", "a", clock()),
            "a new key": Newest(Scope.parse("team:core"), "", "b", clock()),
            "a row": Newest(None, "reviewer", "style", clock()),
        }[last]
    )


async def test_what_has_expired_is_not_the_newest(of: Keys, database: Database, clock: Clock) -> None:
    await of("user:42").set("a", 1)
    kept = clock()
    clock.forward(1)
    await of("chat:9").set("b", 1, ttl=5)
    clock.forward(6)
    assert await newest_change(database, clock()) == Newest(Scope.parse("user:42"), "", "a", kept)


async def test_rows_are_counted_by_agent_and_no_further_than_asked(database: Database, clock: Clock) -> None:
    for alias, keys in (("reviewer", "abc"), ("helper", "a")):
        for key in keys:
            await store(database, clock, alias, key)
    assert await rows_by_agent(database, 10) == {"reviewer": 3, "helper": 1}
    assert await rows_by_agent(database, 1) == {"reviewer": 2, "helper": 1}
