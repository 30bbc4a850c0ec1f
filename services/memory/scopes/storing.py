"""Values stored over whatever is there; those that wait for one another are one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

import msgspec

from services.memory.scopes import rows
from services.memory.scopes.model import Scope
from services.memory.scopes.values import Stored


class Store(msgspec.Struct, frozen=True):
    """Stores a value over whatever is there.

    Attributes:
        scope: Whose key.
        key: The key.
        stored: The value.
        lives: Nanoseconds it lives; None for ever.
        clock: Nanoseconds since 1970, asked inside the transaction.
    """

    scope: Scope
    key: str
    stored: Stored
    lives: int | None
    clock: Callable[[], int]

    def __call__(self, connection: sqlite3.Connection) -> None:
        """Store in a transaction of the caller's."""
        self._store(connection, self.clock())

    @staticmethod
    def together(connection: sqlite3.Connection, stores: Sequence[Store]) -> list[None]:
        """Do one after the other in a transaction of the caller's."""
        now = stores[0].clock()
        if any(store.stored.items for store in stores):
            for store in stores:
                store._store(connection, now)
        else:
            rows.put_without_items(connection, [(one.scope, one.key, one.stored, one._end(now)) for one in stores], now)
        return [None] * len(stores)

    def _store(self, connection: sqlite3.Connection, now: int) -> None:
        rows.put(connection, self.scope, self.key, self.stored, self._end(now), now)

    def _end(self, now: int) -> int | None:
        return None if self.lives is None else now + self.lives
