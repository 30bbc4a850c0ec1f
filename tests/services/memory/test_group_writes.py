"""Writes that wait for one another: each gets its own result or error, and only what failed is undone."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from services.errors import DatabaseError, NothingThere
from services.home import Database, Home
from services.memory.scopes.group_writes import GroupWrites


@pytest.fixture
async def writes(database: Database) -> GroupWrites:
    await database.write(lambda connection: connection.execute("CREATE TABLE numbers (value INTEGER) STRICT"))
    return GroupWrites(database)


def insert(value: int, error: Exception | None = None) -> Callable[[sqlite3.Connection], int]:
    def job(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO numbers VALUES (?)", (value,))
        if error is not None:
            raise error
        return value

    return job


def refuse(_: sqlite3.Connection) -> int:
    raise NothingThere("refused")


async def stored(writes: GroupWrites) -> list[int]:
    query = "SELECT value FROM numbers ORDER BY value"
    rows: list[tuple[int]] = await writes.database.read(lambda connection: connection.execute(query).fetchall())
    return [value for (value,) in rows]


async def test_a_thousand_callers_again_and_again_get_their_own_results(writes: GroupWrites) -> None:
    async def caller(number: int) -> None:
        for time in range(3):
            assert await writes.write(insert(number * 3 + time)) == number * 3 + time

    await asyncio.gather(*map(caller, range(1000)))
    assert await stored(writes) == list(range(3000))


async def test_those_that_wait_share_one_transaction(writes: GroupWrites) -> None:
    seen: list[bool] = []

    def look(connection: sqlite3.Connection) -> None:
        seen.append(connection.execute("SELECT 1 FROM numbers WHERE value = 1").fetchone() is not None)

    def undo(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR ROLLBACK INTO counter VALUES (1, 0)")

    jobs: list[Any] = [writes.write(job) for job in (insert(0), insert(1), look, undo)]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert seen == [True]
    assert [isinstance(result, DatabaseError) for result in results] == [False, True, True, True]
    assert await stored(writes) == [0]


@pytest.mark.parametrize("error", [ZeroDivisionError("a fault"), KeyError("a fault")], ids=repr)
async def test_a_refusal_or_a_fault_is_told_to_its_caller_alone(writes: GroupWrites, error: Exception) -> None:
    jobs = [insert(0), insert(1), refuse, insert(2, error), insert(3)]
    results = await asyncio.gather(*map(writes.write, jobs), return_exceptions=True)
    assert [result if isinstance(result, int) else type(result) for result in results] == [
        0, 1, NothingThere, type(error), 3,
    ]  # fmt: skip
    assert await stored(writes) == [0, 1, 3]


async def test_callers_that_are_cancelled_keep_nobody_waiting(writes: GroupWrites) -> None:
    futures = [writes.write(insert(number)) for number in range(10)]
    for future in futures[::2]:
        future.cancel()
    assert await asyncio.gather(*futures[1::2]) == [1, 3, 5, 7, 9]
    assert await writes.write(insert(10)) == 10
    assert await stored(writes) == list(range(11))


async def test_what_still_waits_when_the_database_closes_is_told(home: Home) -> None:
    database = Database(home.database_file)
    await database.open()
    writes = GroupWrites(database)
    futures = [writes.write(lambda _: 1) for _ in range(3)]
    await database.close()
    results = await asyncio.gather(*futures, return_exceptions=True)
    assert results[0] == 1
    assert all(result == 1 or isinstance(result, DatabaseError) for result in results)
    with pytest.raises(DatabaseError, match="closed"):
        await writes.write(lambda _: 1)
