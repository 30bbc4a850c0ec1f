"""What all operations of a namespace share: its scope, the database and the clock."""

from __future__ import annotations

import sqlite3
from asyncio import Future
from collections.abc import Callable
from typing import TypeVar

from services.memory.scopes.group_writes import GroupWrites, Write
from services.memory.scopes.model import Scope

T = TypeVar("T")
Job = Callable[[sqlite3.Connection, int], T]
"""Something to do inside one transaction; gets the time it began, nanoseconds since 1970."""


class Access:
    """One scope's keys in the database.

    Args:
        scope: Whose keys.
        writes: The way to the database.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, scope: Scope, writes: GroupWrites, now: Callable[[], int]) -> None:
        self.scope = scope
        self._writes = writes
        self._database = writes.database
        self._now = now

    def _read(self, job: Job[T]) -> Future[T]:
        now = self._now
        return self._database.read(lambda connection: job(connection, now()))

    def _write(self, job: Job[T]) -> Future[T]:
        """Run a job that changes nothing before it raises."""
        now = self._now
        return self._writes.write(lambda connection: job(connection, now()))

    def _send(self, write: Write[T]) -> Future[T]:
        """Run a write that may be joined with others of its type; it changes nothing before it raises."""
        return self._writes.write(write)

    def _write_whole(self, job: Job[T]) -> Future[T]:
        """Run a job that may raise halfway, and undo it then."""
        now = self._now
        return self._database.write(lambda connection: job(connection, now()))
