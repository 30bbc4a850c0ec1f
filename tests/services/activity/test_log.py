"""The activity log keeps what was done, pages through it, and follows every process's entries."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from services.activity import ActivityGrew, ActivityLog, Draft, Entry, Events
from services.errors import DatabaseError
from services.home import Database, Home, connect
from tests.services.home.processes import outputs, start

WAITING = 30

RECORD = """
import asyncio, sys
from pathlib import Path
from services.activity import ActivityLog, Events
from services.home import Database

async def main():
    async with Database(Path(sys.argv[1])) as database:
        log = ActivityLog(database, Events())
        for number in range(20):
            await log.record("agent.enable", agent=f"{sys.argv[2]}_{number}")

asyncio.run(main())
"""


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.database_file) as database:
        yield database


@pytest.fixture
def log(database: Database) -> ActivityLog:
    clock = itertools.count(1_000)
    return ActivityLog(database, Events(), now=lambda: next(clock))


async def numbered(log: ActivityLog, count: int) -> None:
    await asyncio.gather(*(log.record("session.start", detail=str(number)) for number in range(count)))


def details(entries: list[Entry]) -> list[str]:
    return [entry.detail for entry in entries]


async def test_gives_back_what_was_recorded(log: ActivityLog) -> None:
    await log.record(
        "session.start", actor="agent:a", agent="b", session="s1", outcome="refused", detail="no [profile] ✗"
    )
    assert await log.recent() == [
        Entry(1, 1000, "agent:a", "session.start", "b", "s1", "refused", "no [profile] ✗"),
    ]


async def test_pages_back_from_the_newest_without_gap_or_repeat(log: ActivityLog) -> None:
    await numbered(log, 25)
    pages: list[list[Entry]] = []
    before = None
    while page := await log.recent(10, before=before):
        pages.append(page)
        before = page[0].number
    assert [len(page) for page in pages] == [10, 10, 5]
    assert details([entry for page in reversed(pages) for entry in page]) == [str(number) for number in range(25)]


async def test_narrows_to_an_agent_and_a_session(log: ActivityLog) -> None:
    for agent, session in (("a", "1"), ("a", "2"), ("b", "3"), ("a", "1")):
        await log.record("session.stop", agent=agent, session=session)
    assert [entry.number for entry in await log.recent(agent="a")] == [1, 2, 4]
    assert [entry.number for entry in await log.recent(agent="a", session="1", before=4)] == [1]
    assert await log.recent(agent="c") == []


async def test_tells_of_each_entry(database: Database) -> None:
    events = Events()
    log = ActivityLog(database, events)
    with events.listen() as listener:
        await log.record("agent.create")
        async with aclosing(listener.batches()) as batches, asyncio.timeout(WAITING):
            assert await anext(batches) == (ActivityGrew(),)


async def test_an_entry_exists_exactly_when_the_change_it_tells_of_does(database: Database, log: ActivityLog) -> None:
    def change_and_fail(connection: sqlite3.Connection) -> None:
        log.append(connection, Draft("session.start"))
        raise LookupError

    with pytest.raises(LookupError):
        await database.write(change_and_fail)
    assert await log.recent() == []
    await database.write(lambda connection: log.append(connection, Draft("session.start")))
    assert len(await log.recent()) == 1


async def test_details_that_are_no_text_or_far_too_long_are_stored_all_the_same(log: ActivityLog) -> None:
    await log.record("agent.create", detail="name \udcff.toml")
    await log.record("agent.create", detail="x" * 1_000_000)
    first, second = await log.recent()
    assert first.detail == "name ?.toml"
    assert second.detail == "x" * 4000


async def test_an_unknown_outcome_is_refused(log: ActivityLog) -> None:
    with pytest.raises(DatabaseError):
        await log.record("agent.create", outcome="perhaps")  # type: ignore[arg-type]
    assert await log.recent() == []


async def test_follows_from_any_point_and_past_more_than_one_page(log: ActivityLog) -> None:
    await numbered(log, 2500)
    async with aclosing(log.follow(after=100)) as entries, asyncio.timeout(WAITING):
        found = [await anext(entries) for _ in range(2400)]
        assert [entry.number for entry in found] == list(range(101, 2501))
        await log.record("agent.create", detail="later")
        assert (await anext(entries)).detail == "later"


async def test_follows_entries_of_other_processes(database: Database, log: ActivityLog) -> None:
    processes = [start(RECORD, database.path, name) for name in ("one", "two")]
    async with aclosing(log.follow(after=0)) as entries, asyncio.timeout(WAITING):
        found = [await anext(entries) for _ in range(40)]
    outputs(processes)
    assert [entry.number for entry in found] == list(range(1, 41))
    for name in ("one", "two"):
        own = [entry.agent for entry in found if entry.agent.startswith(name)]
        assert own == [f"{name}_{number}" for number in range(20)]


async def test_following_ends_with_an_error_when_the_database_is_gone(home: Home) -> None:
    database = Database(home.database_file)
    await database.open()
    log = ActivityLog(database, Events())
    async with aclosing(log.follow(after=0)) as entries:
        waiting = asyncio.ensure_future(anext(entries))
        await asyncio.sleep(0)
        await database.close()
        with pytest.raises(DatabaseError, match="closed"):
            async with asyncio.timeout(WAITING):
                await waiting


async def test_numbers_are_never_used_again(database: Database, log: ActivityLog) -> None:
    await numbered(log, 3)
    connection = connect(database.path)
    connection.execute("DELETE FROM activity")
    connection.close()
    await log.record("agent.create")
    assert [entry.number for entry in await log.recent()] == [4]
