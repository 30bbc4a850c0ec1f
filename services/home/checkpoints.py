"""Moves what was committed from the database's log into its file, on a thread of its own.

That waits for the disk, some fifty milliseconds each time, which no write need wait for.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path

from services.errors import DatabaseError
from services.home.sqlite import connect

STEP = 32 * 1024 * 1024
"""How many bytes the log grows from one move to the next."""

_TURNS = 4


class Checkpoints:
    """Moves the log whenever it has grown by `STEP`.

    Where that fails, as on a full disk, nothing is lost: all stays in the log, which SQLite reads as well as the file,
    and writers move it themselves once it is four times as long.

    Args:
        path: The database.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._seen = 0
        self._next = STEP
        self._orders: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def committed(self) -> None:
        """Have the log moved if it has grown enough; called on one thread, after each commit, and returns at once.

        Raises nothing: what was committed must not be told to have failed.
        """
        try:
            size = self._log.stat().st_size
        except OSError:  # there is none, or the next write finds out what is wrong
            return
        if size < self._seen:  # SQLite began it anew
            self._next = STEP
        self._seen = size
        if size < self._next:
            return
        self._next = size + STEP
        self._orders.put(True)
        if self._thread is None:
            thread = threading.Thread(target=self._move_when_told, name="pinfold-database-log", daemon=True)
            with suppress(RuntimeError):  # the system gives no more threads; the order waits for the next time
                thread.start()
                self._thread = thread

    def stop(self, seconds: float) -> None:
        """Finish; blocks, gives up on a disk that does not answer."""
        if self._thread is not None:
            self._orders.put(False)
            self._thread.join(seconds)

    def _move_when_told(self) -> None:
        try:
            connection = connect(self._path)
        except DatabaseError:  # the writers have theirs, and move the log
            return
        with closing(connection):
            while self._orders.get():
                with suppress(sqlite3.Error):  # it stays in the log, for the next time or for a writer
                    _move(connection)


def _move(connection: sqlite3.Connection) -> None:
    """Move all, so that the log can be begun anew; what is written meanwhile takes another, shorter turn."""
    before = None
    for _ in range(_TURNS):
        _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if frames == before:
            return
        before = frames
