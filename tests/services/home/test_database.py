"""The database: jobs in groups, errors in plain words, several processes on one file."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from services.errors import DatabaseError, PinfoldError
from services.home import Database, Home, connect, next_revision
from tests.services.home import small_disk as disk
from tests.services.home.processes import outputs, start
from tests.services.home.small_disk import needs_small_disk

WAITING = 30

OPEN = """
import asyncio, sys
from pathlib import Path
from services.home import Database

async def main():
    sys.stdin.readline()
    async with Database(Path(sys.argv[1])) as database:
        rows = await database.read(lambda c: c.execute("SELECT value FROM counter").fetchall())
        print(len(rows))

asyncio.run(main())
"""

COUNT = """
import asyncio, sys
from pathlib import Path
from services.home import Database, next_revision

async def main():
    async with Database(Path(sys.argv[1])) as database:
        for _ in range(50):
            await database.write(next_revision)

asyncio.run(main())
"""


def insert(value: int) -> Callable[[sqlite3.Connection], int]:
    def job(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO numbers VALUES (?)", (value,))
        return value

    return job


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM numbers").fetchone()[0])


@pytest.fixture
async def numbers(database: Database) -> Database:
    await database.write(lambda connection: connection.execute("CREATE TABLE numbers (value INTEGER) STRICT"))
    return database


class Gate:
    """A job that keeps the writer busy, so that what is submitted meanwhile becomes one group."""

    def __init__(self, database: Database) -> None:
        self._open, self._entered = threading.Event(), threading.Event()
        self._passed = database.write(self._wait)

    def _wait(self, _: sqlite3.Connection) -> None:
        self._entered.set()
        self._open.wait(WAITING)

    async def closed(self) -> None:
        await asyncio.to_thread(self._entered.wait, WAITING)

    async def open(self) -> None:
        self._open.set()
        await self._passed


class TestWriting:
    async def test_gives_each_caller_its_own_result(self, numbers: Database) -> None:
        results = await asyncio.gather(*(numbers.write(insert(value)) for value in range(500)))
        assert results == list(range(500))
        assert await numbers.read(count) == 500

    async def test_jobs_that_wait_together_share_one_commit(self, numbers: Database) -> None:
        gate = Gate(numbers)
        await gate.closed()
        watcher = connect(numbers.path)
        before = watcher.execute("PRAGMA data_version").fetchone()
        seen: list[int] = []
        jobs: list[asyncio.Future[Any]] = [numbers.write(insert(value)) for value in range(50)]
        jobs.append(numbers.write(lambda _: seen.append(count(watcher))))
        await gate.open()
        await asyncio.gather(*jobs)
        assert seen == [0]  # nothing was committed before the last job of the group ran
        assert count(watcher) == 50
        assert watcher.execute("PRAGMA data_version").fetchone() != before
        watcher.close()

    async def test_a_job_that_raises_undoes_only_itself(self, numbers: Database) -> None:
        def insert_and_fail(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO numbers VALUES (99)")
            raise KeyError("no")

        gate = Gate(numbers)
        await gate.closed()
        jobs: list[asyncio.Future[Any]] = [
            numbers.write(insert(1)),
            numbers.write(insert_and_fail),
            numbers.write(insert(2)),
        ]
        await gate.open()
        results = await asyncio.gather(*jobs, return_exceptions=True)
        assert [results[0], results[2]] == [1, 2]
        assert isinstance(results[1], KeyError)
        rows = await numbers.read(lambda connection: connection.execute("SELECT value FROM numbers").fetchall())
        assert rows == [(1,), (2,)]

    async def test_a_wrong_statement_is_a_database_error(self, numbers: Database) -> None:
        with pytest.raises(DatabaseError, match="no such table"):
            await numbers.write(lambda connection: connection.execute("INSERT INTO absent VALUES (1)"))
        assert await numbers.write(insert(1)) == 1

    async def test_a_cancelled_caller_neither_stops_the_job_nor_the_others(self, numbers: Database) -> None:
        gate = Gate(numbers)
        await gate.closed()
        abandoned, kept = numbers.write(insert(1)), numbers.write(insert(2))
        abandoned.cancel()
        await gate.open()
        assert await kept == 2
        assert await numbers.read(count) == 2

    async def test_revisions_rise(self, database: Database) -> None:
        drawn = await asyncio.gather(*(database.write(next_revision) for _ in range(20)))
        assert drawn == sorted(set(drawn))


class TestReading:
    async def test_reads_one_moment_though_others_write(self, numbers: Database) -> None:
        between, go_on = threading.Event(), threading.Event()

        def count_twice(connection: sqlite3.Connection) -> tuple[int, int]:
            first = count(connection)
            between.set()
            go_on.wait(WAITING)
            return first, count(connection)

        reading = numbers.read(count_twice)
        await asyncio.to_thread(between.wait, WAITING)
        await numbers.write(insert(1))
        go_on.set()
        assert await reading == (0, 0)
        assert await numbers.read(count) == 1

    async def test_cannot_write(self, numbers: Database) -> None:
        with pytest.raises(DatabaseError, match=r"readonly|read-only"):
            await numbers.read(insert(1))
        assert await numbers.read(count) == 0


class TestOpening:
    async def test_makes_the_directory_and_the_tables(self, home: Home) -> None:
        async with Database(home.database_file) as database:
            tables = await database.read(
                lambda connection: connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            )
        assert {("sessions",), ("steps",), ("activity",), ("counter",)} <= set(tables)

    def test_by_many_processes_at_once_makes_the_tables_once(self, home: Home) -> None:
        processes = [start(OPEN, home.database_file) for _ in range(6)]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()
        assert outputs(processes) == ["1"] * 6

    async def test_refuses_a_database_of_a_newer_pinfold_and_leaves_it_alone(self, home: Home) -> None:
        async with Database(home.database_file) as database:
            await database.write(lambda connection: connection.execute("PRAGMA user_version = 999"))
        with pytest.raises(DatabaseError, match="newer Pinfold"):
            await Database(home.database_file).open()
        connection = sqlite3.connect(home.database_file)
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)
        connection.close()

    async def test_says_when_a_directory_is_in_its_place(self, home: Home) -> None:
        home.database_file.mkdir(parents=True)
        with pytest.raises(DatabaseError, match="cannot be opened"):
            await Database(home.database_file).open()

    async def test_says_when_its_directory_cannot_be_made(self, home: Home) -> None:
        home.root.touch()
        with pytest.raises(PinfoldError, match="cannot make the directory"):
            await Database(home.database_file).open()

    @needs_small_disk
    async def test_says_when_its_directory_is_read_only(self, small_disk: Path) -> None:
        disk.make_read_only(str(small_disk))
        with pytest.raises(DatabaseError, match=r"cannot be opened|read-only"):
            await Database(small_disk / "pinfold.db").open()

    def test_a_failed_connection_is_a_database_error(self, tmp_path: Path) -> None:
        with pytest.raises(DatabaseError) as raised:
            connect(tmp_path / "none" / "pinfold.db")
        assert isinstance(raised.value.__cause__, sqlite3.Error)


class TestFullDisk:
    @needs_small_disk
    async def test_fails_every_job_of_the_group_in_plain_words_and_works_again(self, small_disk: Path) -> None:
        async with Database(small_disk / "pinfold.db") as database:
            await database.write(lambda connection: connection.execute("CREATE TABLE blobs (value BLOB) STRICT"))
            gate = Gate(database)
            await gate.closed()
            big = "INSERT INTO blobs VALUES (zeroblob(8000000))"
            jobs: list[asyncio.Future[Any]] = [
                database.write(next_revision),
                database.write(lambda connection: connection.execute(big).rowcount),
            ]
            await gate.open()
            results = await asyncio.gather(*jobs, return_exceptions=True)
            failed = [result for result in results if isinstance(result, Exception)]
            assert failed
            assert all(isinstance(error, DatabaseError) for error in failed)
            assert any("full" in str(error) for error in failed)
            value = await database.read(lambda connection: connection.execute("SELECT value FROM counter").fetchone())
            assert value == (0 if isinstance(results[0], Exception) else 1,)
            assert isinstance(await database.write(next_revision), int)

    async def test_a_job_that_makes_sqlite_undo_everything_fails_the_whole_group(self, numbers: Database) -> None:
        gate = Gate(numbers)
        await gate.closed()

        def undo_everything(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR ROLLBACK INTO counter VALUES (1, 0)")

        jobs: list[asyncio.Future[Any]] = [
            numbers.write(insert(1)),
            numbers.write(undo_everything),
            numbers.write(insert(2)),
        ]
        await gate.open()
        results = await asyncio.gather(*jobs, return_exceptions=True)
        assert all(isinstance(result, DatabaseError) for result in results)
        assert "UNIQUE" in str(results[1])
        assert await numbers.read(count) == 0
        assert await numbers.write(insert(3)) == 3


class TestSeveralProcesses:
    def test_lose_no_update(self, home: Home) -> None:
        outputs([start(COUNT, home.database_file) for _ in range(4)])
        connection = connect(home.database_file)
        assert connection.execute("SELECT value FROM counter").fetchone() == (200,)
        connection.close()

    async def test_wait_for_each_other_to_write(self, numbers: Database) -> None:
        other = connect(numbers.path)
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO numbers VALUES (1)")
        waiting = numbers.write(insert(2))
        assert await numbers.read(count) == 0  # readers go on
        assert not waiting.done()
        other.execute("COMMIT")
        await waiting
        assert await numbers.read(count) == 2
        other.close()

    async def test_say_who_is_in_the_way_when_waiting_is_in_vain(self, numbers: Database) -> None:
        await numbers.write(lambda connection: connection.execute("PRAGMA busy_timeout = 50").fetchone())
        other = connect(numbers.path)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseError, match="another program holds it"):
            await numbers.write(insert(1))
        other.execute("ROLLBACK")
        other.close()
        assert await numbers.write(insert(1)) == 1


class TestChanges:
    async def test_tell_at_once_and_then_of_every_commit_here_and_elsewhere(self, numbers: Database) -> None:
        other = connect(numbers.path)
        async with aclosing(numbers.changes(every=0.01)) as changes, asyncio.timeout(WAITING):
            await anext(changes)
            await numbers.write(insert(1))
            await anext(changes)
            other.execute("INSERT INTO numbers VALUES (2)")
            await anext(changes)
            assert await numbers.read(count) == 2
        other.close()

    async def test_tell_of_what_was_committed_before_the_first_was_taken_in(self, numbers: Database) -> None:
        async with aclosing(numbers.changes(every=0.01)) as changes, asyncio.timeout(WAITING):
            await anext(changes)
            await numbers.write(insert(1))  # while the listener is still busy with the first
            await anext(changes)

    async def test_stay_silent_while_nobody_commits(self, numbers: Database) -> None:
        async with aclosing(numbers.changes(every=0.001)) as changes:
            await anext(changes)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await anext(changes)


class TestClosing:
    async def test_finishes_what_was_submitted_and_ends_its_threads(self, home: Home) -> None:
        before = set(threading.enumerate())
        database = Database(home.database_file)
        await database.open()
        submitted = [database.write(next_revision) for _ in range(1000)]
        await database.close()
        assert await asyncio.gather(*submitted) == list(range(1, 1001))
        left = {thread.name for thread in set(threading.enumerate()) - before}
        assert not [name for name in left if name.startswith("pinfold")]

    async def test_refuses_what_comes_later(self, home: Home) -> None:
        database = Database(home.database_file)
        await database.open()
        await database.close()
        for job in (database.write(next_revision), database.read(next_revision)):
            with pytest.raises(DatabaseError, match="closed"):
                await job

    async def test_of_one_never_opened_is_harmless(self, home: Home) -> None:
        await Database(home.database_file).close()
        assert not home.state_dir.exists()
