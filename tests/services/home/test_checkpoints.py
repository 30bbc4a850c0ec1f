"""The database's log moved to its file while others write."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from services.home import Database
from services.home.checkpoints import STEP

PIECE = 1024 * 1024
PIECES = 5 * STEP // 2 // PIECE
BOUND = 60


def keep(number: int) -> Callable[[sqlite3.Connection], object]:
    return lambda c: c.execute("INSERT INTO pieces VALUES (?, zeroblob(?))", (number, PIECE))


async def table_of_pieces(database: Database) -> None:
    await database.write(lambda c: c.execute("CREATE TABLE pieces (number INTEGER, data BLOB)"))


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(BOUND):
        while not holds():
            await asyncio.sleep(0.01)


async def test_a_log_that_has_grown_is_moved_to_the_file_though_writers_never_move_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("services.home.sqlite._CHECKPOINT_PAGES", 0)  # never by whoever commits
    file = tmp_path / "pinfold.db"
    async with Database(file) as database:
        await table_of_pieces(database)
        before = file.stat().st_size
        for number in range(PIECES):
            await database.write(keep(number))
        await until(lambda: file.stat().st_size >= before + STEP)


async def test_a_log_that_is_begun_anew_takes_no_more_room_than_what_is_in_it(tmp_path: Path):
    log = tmp_path / "pinfold.db-wal"
    async with Database(tmp_path / "pinfold.db") as database:
        await table_of_pieces(database)
        for number in range(PIECES):
            await database.write(keep(number))
        async with asyncio.timeout(BOUND):
            while log.stat().st_size > PIECE:
                await asyncio.sleep(0.05)  # nobody writes, so that all can be moved
                await database.write(lambda c: c.execute("INSERT INTO pieces VALUES (-1, '')"))
        query = "SELECT count(*) FROM pieces WHERE data <> ''"
        assert await database.read(lambda c: c.execute(query).fetchone()) == (PIECES,)


async def test_a_log_that_cannot_be_moved_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As long as somebody reads an old state, SQLite cannot move what was written since."""
    file = tmp_path / "pinfold.db"
    async with Database(file) as database:
        await table_of_pieces(database)
        reader = sqlite3.connect(file, isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM pieces").fetchone() == (0,)
        for number in range(PIECES):
            await database.write(keep(number))
        assert reader.execute("SELECT count(*) FROM pieces").fetchone() == (0,)
        reader.close()
    with sqlite3.connect(file) as again:
        assert again.execute("SELECT count(*), sum(length(data)) FROM pieces").fetchone() == (PIECES, PIECES * PIECE)


@pytest.mark.parametrize(
    ("place", "error"),
    [
        pytest.param("pathlib.Path.stat", OSError(5, "Input/output error"), id="the log cannot be looked at"),
        pytest.param("threading.Thread.start", RuntimeError("can't start new thread"), id="no thread is to be had"),
    ],
)
async def test_what_was_committed_is_not_told_to_have_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception
):
    def fails(*_: object, **__: object) -> None:
        raise error

    async with Database(tmp_path / "pinfold.db") as database:
        await table_of_pieces(database)
        with monkeypatch.context() as patch:
            patch.setattr("services.home.checkpoints.STEP", 1)
            patch.setattr(database._writer._checkpoints, "_next", 1)
            patch.setattr(place, fails)
            await database.write(keep(1))
        assert await database.read(lambda c: c.execute("SELECT count(*) FROM pieces").fetchone()) == (1,)
