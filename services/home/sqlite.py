"""How every part of Pinfold connects to SQLite, and what SQLite's errors mean to an operator."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from services.errors import DatabaseDamaged, DatabaseError

_PATIENCE = 5.0
_PAUSE = 0.02

_CHECKPOINT_PAGES = 32_000
"""Of 4 KiB: a log of writes this long is moved to the file by whoever commits, if nobody else has done it before."""

_REASONS = {
    "SQLITE_BUSY": ("another program holds it for writing", "Try again, or end that program."),
    "SQLITE_FULL": ("the disk is full", "Free some space."),
    "SQLITE_IOERR": ("the disk reports an error", "Look at the system's log."),
    "SQLITE_READONLY": ("it is read-only", "Check the rights of the state folder."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Check the rights of the state folder."),
    "SQLITE_PROTOCOL": ("its file system cannot lock files", "Keep the home on a local disk."),
}
_DAMAGES = {"SQLITE_CORRUPT": "it is damaged", "SQLITE_NOTADB": "it is not a database"}
_DAMAGE_FIX = "End every Pinfold of this home and start again: a damaged database is set aside, never deleted."


def connect(path: Path) -> sqlite3.Connection:
    """Open a connection: WAL, transactions only where the caller begins one, five seconds of patience.

    Raises:
        DatabaseError: The file cannot be used as a database.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE, check_same_thread=False)
    except sqlite3.Error as error:
        raise explained(error, path) from error
    try:
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute("PRAGMA journal_size_limit = 0")  # a log that is begun anew is cut to what is in it
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error as error:
        connection.close()
        raise explained(error, path) from error
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Retry by hand: when several processes open a new file at once, SQLite refuses some without waiting."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


def explained(error: sqlite3.Error, path: Path | None = None) -> DatabaseError:
    """Say what an error of SQLite means and what can be done.

    Args:
        error: Becomes the cause of the result.
        path: The file, when known.
    """
    what = f"cannot use the database {path}" if path else "cannot use the database"
    name = getattr(error, "sqlite_errorname", "")  # absent from errors that Python's own module raises
    damage = next((why for prefix, why in _DAMAGES.items() if name.startswith(prefix)), None)
    if damage is not None:
        damaged = DatabaseDamaged(what, why=damage, fix=_DAMAGE_FIX)
        damaged.__cause__ = error
        return damaged
    for prefix, (why, fix) in _REASONS.items():
        if name.startswith(prefix):
            found = DatabaseError(what, why=why, fix=fix)
            break
    else:
        found = DatabaseError(what, why=str(error))
    found.__cause__ = error
    return found
