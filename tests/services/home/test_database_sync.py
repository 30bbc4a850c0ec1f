"""What was committed is waited for on the disk, wherever SQLite has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.errors import DatabaseError
from services.home import Database


async def test_what_was_committed_is_synced_with_and_without_a_log_beside_the_file(tmp_path: Path):
    file = tmp_path / "pinfold.db"
    async with Database(file) as database:
        log = file.with_name("pinfold.db-wal")
        assert log.exists()
        database.sync()
    assert not log.exists()
    database.sync()


async def test_a_disk_that_reports_an_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    async with Database(tmp_path / "pinfold.db") as database:
        monkeypatch.setattr("services.home.database.os.fsync", broken)
        with pytest.raises(DatabaseError, match="Input/output error"):
            database.sync()
        monkeypatch.undo()
