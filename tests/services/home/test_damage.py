"""A damaged database is set aside whole, once, and never while anyone has it open."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from services.errors import DatabaseDamaged
from services.home import Database, Home
from tests.services.home.processes import outputs, start

PAGE = 4096
ROWS = 2000

OPEN = """
import asyncio, sys
from pathlib import Path
from services.errors import DatabaseError
from services.home import Database

async def main():
    try:
        async with Database(Path(sys.argv[1])) as database:
            print("set aside" if database.damage else "opened")
    except DatabaseError as error:
        print(f"refused: {error}")

asyncio.run(main())
"""

OVERWRITE = """
import sys
with open(sys.argv[1], "r+b") as file:
    file.write(bytes(64))
"""


@pytest.fixture
async def filled(home: Home) -> Path:
    """A database with many pages, closed."""
    file = home.database_file
    async with Database(file) as database:
        await database.write(lambda connection: connection.execute("CREATE TABLE numbers (value TEXT) STRICT"))
        insert = "INSERT INTO numbers VALUES (?)"
        await database.write(lambda connection: connection.executemany(insert, [("x" * 500,)] * ROWS) and None)
    return file


def overwrite(file: Path, place: int, data: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(data)


def aside(file: Path) -> list[Path]:
    found = file.parent.glob(f"{file.name}.damaged-*")
    return sorted(place for place in found if not place.name.endswith(("-wal", "-shm")))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no database at all": lambda file: file.write_bytes(b"hello " * 1000),
    "a header written over": lambda file: overwrite(file, 0, b"\0" * 64),
    "a schema written over": lambda file: overwrite(file, 100, b"\xff" * 2000),
    "cut in the middle": lambda file: os.truncate(file, file.stat().st_size // 2),
    "cut behind the header": lambda file: os.truncate(file, 600),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_database_that_cannot_be_opened_is_kept_under_a_name_that_is_told(filled: Path, damage):
    damage(filled)
    bytes_then = filled.read_bytes()
    async with Database(filled) as database:
        (kept,) = aside(filled)
        assert database.damage is not None
        assert str(kept) in database.damage.why
        assert kept.read_bytes() == bytes_then
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM sessions").fetchone()) == (0,)
    async with Database(filled) as database:
        assert database.damage is None
    assert aside(filled) == [kept]


async def test_its_log_of_writes_goes_along(filled: Path):
    log = filled.with_name(f"{filled.name}-wal")
    with closing(sqlite3.connect(filled, isolation_level=None)) as writer:
        writer.execute("INSERT INTO numbers VALUES ('in the log')")
        bytes_then = log.read_bytes()
    log.write_bytes(bytes_then)
    filled.write_bytes(b"hello " * 1000)
    async with Database(filled):
        (kept,) = aside(filled)
        assert kept.with_name(f"{kept.name}-wal").read_bytes() == bytes_then


async def test_an_empty_file_is_a_new_database_and_a_good_one_is_left_alone(filled: Path, home: Home):
    async with Database(filled) as database:
        assert database.damage is None
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM numbers").fetchone()) == (ROWS,)
    empty = home.state_dir / "empty.db"
    empty.touch()
    async with Database(empty) as database:
        assert database.damage is None
    assert aside(filled) == aside(empty) == []


async def test_many_that_open_it_at_once_set_it_aside_once(filled: Path):
    filled.write_bytes(b"hello " * 1000)
    processes = [start(OPEN, filled) for _ in range(4)]
    found = outputs(processes)
    assert sorted(found) == ["opened"] * 3 + ["set aside"]
    assert len(aside(filled)) == 1


async def test_what_another_pinfold_has_open_stays_where_it_is(filled: Path):
    async with Database(filled) as other:
        await other.read(lambda c: c.execute("SELECT count(*) FROM numbers").fetchone())
        outputs([start(OVERWRITE, filled)])  # closing the file here would give up the locks of this process
        (said,) = outputs([start(OPEN, filled)])
        assert said.startswith("refused: ")
        assert "another Pinfold still has it open" in said
        assert aside(filled) == []


async def test_damage_found_while_it_is_in_use_is_looked_at_when_it_is_opened_next(filled: Path):
    overwrite(filled, filled.stat().st_size - 20 * PAGE, b"\xff" * 20 * PAGE)
    async with Database(filled) as database:
        assert database.damage is None
        with pytest.raises(DatabaseDamaged, match="damaged") as raised:
            await database.read(lambda c: c.execute("SELECT sum(length(value)) FROM numbers").fetchone())
        assert "set aside" in raised.value.fix
    async with Database(filled) as database:
        assert database.damage is not None
        assert len(aside(filled)) == 1


async def test_a_suspicion_that_proves_wrong_is_forgotten(filled: Path):
    mark = filled.with_name(f"{filled.name}.suspect")
    mark.touch()
    async with Database(filled) as database:
        assert database.damage is None
        assert not mark.exists()
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM numbers").fetchone()) == (ROWS,)
