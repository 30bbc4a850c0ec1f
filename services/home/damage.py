"""Sets a damaged database aside: Pinfold goes on with a new one, and nothing of the old one is deleted."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import itertools
import os
import sqlite3
from pathlib import Path

from services.errors import DatabaseDamaged
from services.home.locks import FileLock
from services.home.sqlite import connect, explained

_LOCK_SECONDS = 10.0
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510
"""The bytes of its file on which SQLite locks whoever has a database open: https://sqlite.org/fileformat2.html."""

_PARTS = ("-wal", "-shm", "")
"""The file itself last: as long as it lies there, the same is done again after a crash in between."""


def connect_or_set_aside(path: Path) -> tuple[sqlite3.Connection, DatabaseDamaged | None]:
    """Connect to a database, and put a new one in the place of one that is damaged; blocks.

    Only one that is found damaged when it is opened, or was reported as `suspect` and then fails SQLite's own
    check, is set aside.

    Returns:
        The connection, and what was found damaged and where that lies now.

    Raises:
        DatabaseError: It cannot be used.
        DatabaseDamaged: It is damaged, and another Pinfold still has it open.
    """
    try:
        return _checked(path), None
    except DatabaseDamaged:
        lock = FileLock(path.with_name(f"{path.name}.lock"), "the database")
        lock.acquire(_LOCK_SECONDS)
        try:
            return _again(path)
        finally:
            lock.release()


def suspect(path: Path) -> None:
    """Have the database checked when it is opened next; does nothing where nothing can be written."""
    with contextlib.suppress(OSError):
        _mark(path).touch()


def _again(path: Path) -> tuple[sqlite3.Connection, DatabaseDamaged | None]:
    """Look once more, under the lock: another Pinfold may have set it aside meanwhile."""
    try:
        return _checked(path), None
    except DatabaseDamaged as damaged:
        if _is_open_elsewhere(path):
            raise DatabaseDamaged(
                damaged.what,
                why="it is damaged, and another Pinfold still has it open",
                fix="End every other Pinfold of this home and start again: the database is then set aside.",
            ) from damaged
        aside = _move(path)
    return _checked(path), DatabaseDamaged(
        "the database was damaged",
        why=f"it is set aside as {aside}",
        fix="Sessions and memories begin anew; sandboxes that go on are shown as orphans.",
    )


def _checked(path: Path) -> sqlite3.Connection:
    """Connect and read the schema; all of the database if it is suspect.

    Raises:
        DatabaseError: It cannot be used.
        DatabaseDamaged: It is damaged.
    """
    connection = connect(path)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        mark = _mark(path)
        if mark.exists():
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise DatabaseDamaged(f"cannot use the database {path}", why=f"it is damaged: {verdict}")
            mark.unlink(missing_ok=True)
    except sqlite3.Error as error:
        connection.close()
        raise explained(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _is_open_elsewhere(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _move(path: Path) -> Path:
    stamp = f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}"
    suffixes = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    names = (f"{path.name}.damaged-{stamp}{suffix}" for suffix in suffixes)
    aside = next(place for name in names if not (place := path.with_name(name)).exists())
    for part in _PARTS:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + part).rename(aside.with_name(aside.name + part))
    _mark(path).unlink(missing_ok=True)
    return aside


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.suspect")
