"""Databases that are locked, full, read-only, cut off or damaged: what fails says so, what was acknowledged stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.errors import DatabaseError
from services.home import BlockingCalls, Database, Home, connect
from services.memory import Memory, Namespace, Scope
from tests.services.home import small_disk as disk
from tests.services.home.small_disk import needs_small_disk

USER = Scope.parse("user:1")


@pytest.fixture
def small_home(tmp_path: Path) -> Iterator[Home]:
    """A home on a disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    disk.mount(str(place))
    yield Home(place)
    disk.unmount(str(place))


@asynccontextmanager
async def opened(home: Home, calls: BlockingCalls) -> AsyncIterator[Namespace]:
    async with Database(home.database_file) as database:
        yield Memory(home, database, calls).namespace(USER)


async def fill(keys: Namespace, stored: list[str]) -> None:
    """Store until it fails, and note what was acknowledged."""
    for number in range(100):
        await keys.set(f"k{number:02}", "x" * 100_000)
        stored.append(f"k{number:02}")


async def read_and_write_all(home: Home, calls: BlockingCalls) -> None:
    async with opened(home, calls) as keys:
        await keys.snapshot()
        await keys.set_many({f"k{number}": 1 for number in range(2000)})


async def test_a_write_waits_for_another_programs_and_readers_do_not(home: Home, calls: BlockingCalls) -> None:
    async with opened(home, calls) as keys:
        await keys.set("k", 1)
        other = connect(home.database_file)
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE counter SET value = 5")
        waiting = asyncio.ensure_future(keys.incr("k"))
        assert await keys.get("k") == 1
        assert not waiting.done()
        other.execute("COMMIT")
        assert await waiting == 2
        other.close()


async def test_a_write_that_waited_five_seconds_in_vain_says_who_is_in_the_way(
    home: Home, calls: BlockingCalls
) -> None:
    async with Database(home.database_file) as database:
        assert await database.write(lambda c: c.execute("PRAGMA busy_timeout").fetchone()) == (5000,)
        await database.write(lambda connection: connection.execute("PRAGMA busy_timeout = 50").fetchone())
        keys = Memory(home, database, calls).namespace(USER)
        other = connect(home.database_file)
        other.execute("BEGIN IMMEDIATE")
        for refused in (keys.set("k", 1), keys.push("k", 1), keys.clear()):
            with pytest.raises(DatabaseError, match="another program holds it for writing"):
                await refused
        other.execute("ROLLBACK")
        other.close()
        assert await keys.incr("k") == 1


@needs_small_disk
async def test_a_full_disk_is_told_and_loses_nothing_acknowledged(small_home: Home, calls: BlockingCalls) -> None:
    stored: list[str] = []
    async with opened(small_home, calls) as keys:
        with pytest.raises(DatabaseError, match="full"):
            await fill(keys, stored)
        assert stored
        assert await keys.keys() == stored
    async with opened(small_home, calls) as keys:
        assert await keys.keys() == stored
        assert await keys.get(stored[-1]) == "x" * 100_000


@needs_small_disk
async def test_a_disk_that_became_read_only_is_told(small_home: Home, calls: BlockingCalls) -> None:
    async with opened(small_home, calls) as keys:
        await keys.set("k", 1)
    disk.make_read_only(str(small_home.root))
    with pytest.raises(DatabaseError, match=r"read-only|cannot be opened"):
        async with opened(small_home, calls):
            pass


@pytest.mark.parametrize("damage", ["truncated", "header", "pages"])
async def test_a_damaged_database_is_set_aside_and_never_changed(home: Home, calls: BlockingCalls, damage: str) -> None:
    async with opened(home, calls) as keys:
        await keys.set_many({f"k{number}": "x" * 500 for number in range(2000)})
    file = home.database_file
    whole = file.read_bytes()
    damaged = {
        "truncated": whole[: len(whole) // 2],
        "header": b"\0" * 100 + whole[100:],
        "pages": whole[:4096] + b"\xff" * (len(whole) - 4096),
    }[damage]
    file.write_bytes(damaged)
    await read_and_write_all(home, calls)
    (kept,) = file.parent.glob(f"{file.name}.damaged-*Z")
    assert kept.read_bytes() == damaged


async def test_one_bad_write_of_a_group_fails_alone(home: Home, calls: BlockingCalls) -> None:
    async with opened(home, calls) as keys:
        await keys.set("text", "x")
        results = await asyncio.gather(
            *(keys.incr("text" if number % 2 else "n") for number in range(40)), return_exceptions=True
        )
        assert [result for result in results if isinstance(result, int)] == list(range(1, 21))
        assert await keys.get("n") == 20
        assert await keys.get("text") == "x"
