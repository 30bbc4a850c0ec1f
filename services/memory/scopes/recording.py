"""Changes of keys that can be taken back: what was there before, and what the change left."""

from __future__ import annotations

import sqlite3
from asyncio import Future
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from services.memory.scopes import rows
from services.memory.scopes.access import Job
from services.memory.scopes.group_writes import GroupWrites, Write
from services.memory.scopes.model import Scope, changed_meanwhile, check_key
from services.memory.scopes.namespace import Namespace
from services.memory.scopes.patterns import Pattern
from services.memory.scopes.values import parse

T = TypeVar("T")

ROOM = 16 * 1024 * 1024
"""The most bytes of values that are kept of one change; a larger one cannot be taken back."""


class Held(msgspec.Struct, frozen=True):
    """What a key held.

    Attributes:
        value: JSON.
        expires_at: Nanoseconds since 1970; None is never.
    """

    value: str
    expires_at: int | None


class Change(msgspec.Struct, frozen=True):
    """One change of some keys of a scope.

    Attributes:
        before: What each key held; one that is missing held nothing.
        after: The same, once it was changed.
    """

    scope: Scope
    before: Mapping[str, Held]
    after: Mapping[str, Held]

    @property
    def keys(self) -> list[str]:
        """The keys that differ, sorted."""
        return sorted(key for key in {*self.before, *self.after} if self.before.get(key) != self.after.get(key))


class Recorded(Namespace):
    """One scope's keys; what a change does to some of them is kept in the transaction that makes it.

    Args:
        scope: Whose keys.
        writes: The way to the database.
        now: The clock, nanoseconds since 1970.
        watched: The keys that will change, or a pattern that matches them.

    Attributes:
        change: The last change; None before the first, and when there was too much to keep.
    """

    def __init__(self, scope: Scope, writes: GroupWrites, now: Callable[[], int], watched: Sequence[str] | str) -> None:
        super().__init__(scope, writes, now)
        self._watched = Pattern.parse(watched) if isinstance(watched, str) else [check_key(key) for key in watched]
        self.change: Change | None = None

    def _write(self, job: Job[T]) -> Future[T]:
        return self._write_whole(job)

    def _send(self, write: Write[T]) -> Future[T]:
        return self._write_whole(lambda connection, _: write(connection))

    def _write_whole(self, job: Job[T]) -> Future[T]:
        def recording(connection: sqlite3.Connection, now: int) -> T:
            before = self._look(connection, now)
            result = job(connection, now)
            after = self._look(connection, now)
            self.change = None if before is None or after is None else Change(self.scope, before, after)
            return result

        return super()._write_whole(recording)

    def _look(self, connection: sqlite3.Connection, now: int) -> dict[str, Held] | None:
        watched = self._watched
        if isinstance(watched, Pattern):
            return _within_room(connection, rows.each_matching(connection, self.scope, watched, now))
        found = (rows.find(connection, self.scope, key, now) for key in watched)
        return _within_room(connection, (row for row in found if row is not None))


def held_by(connection: sqlite3.Connection, scope: Scope, keys: Iterable[str], now: int) -> dict[str, Held]:
    """What some keys of a scope hold; one that is missing is left out."""
    found = (rows.find(connection, scope, key, now) for key in keys)
    return {row.key: _held(connection, row) for row in found if row is not None}


def _within_room(connection: sqlite3.Connection, found: Iterable[rows.Row]) -> dict[str, Held] | None:
    """What some rows hold; None when it is too much to keep."""
    held: dict[str, Held] = {}
    room = ROOM
    for row in found:
        room -= row.size + len(row.key)
        if room < 0:
            return None
        held[row.key] = _held(connection, row)
    return held


def _held(connection: sqlite3.Connection, row: rows.Row) -> Held:
    return Held(rows.text_of(connection, row), row.expires_at)


def take_back(connection: sqlite3.Connection, change: Change, now: int, *, anyway: bool) -> int:
    """Put back what was there before a change, and count the keys.

    Raises:
        ChangedMeanwhile: A key does not hold any more what the change left.
    """
    keys = change.keys
    if not anyway:
        for key in keys:
            held = held_by(connection, change.scope, [key], now).get(key)
            if held != _living(change.after.get(key), now):
                raise changed_meanwhile(key)
    for key in keys:
        old = _living(change.before.get(key), now)
        if old is None:
            rows.remove(connection, change.scope, key, now)
        else:
            rows.put(connection, change.scope, key, parse(old.value), old.expires_at, now)
    return len(keys)


def _living(held: Held | None, now: int) -> Held | None:
    """What is still there of it."""
    expired = held is not None and held.expires_at is not None and held.expires_at <= now
    return None if expired else held
