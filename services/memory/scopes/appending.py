"""Appends to lists; those that wait for one another find each list once and write it once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

import msgspec

from services.errors import InputRefused, MemoryRefused
from services.memory.scopes import rows
from services.memory.scopes.model import Scope
from services.memory.scopes.values import LIST_LIMIT, Stored, item_size

_TAIL = (
    "SELECT number, kind, first + length, length, size FROM scoped_values"
    " WHERE scope = ? AND id = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)"
)
_GROWN = "UPDATE scoped_values SET length = ?, size = ?, updated_at = ? WHERE number = ?"
_INSERT = "INSERT INTO list_items (list, position, value) VALUES (?, ?, ?)"


class Append(msgspec.Struct, frozen=True):
    """Appends to a list, or makes it; returns its new length.

    Attributes:
        scope: Whose key.
        key: The list's.
        items: JSON texts, in order.
        lives: Nanoseconds a new list lives; None for ever.
        clock: Nanoseconds since 1970, asked inside the transaction.
    """

    scope: Scope
    key: str
    items: Sequence[str]
    lives: int | None
    clock: Callable[[], int]

    def __call__(self, connection: sqlite3.Connection) -> int:
        """Append in a transaction of the caller's.

        Raises:
            WrongKind: The key holds something other than a list.
            InputRefused: The list would grow too large.
        """
        now = self.clock()
        tail = self._tail(connection, now)
        if tail is None:
            return self._make(connection, now)
        for item in tail.grow(self):
            connection.execute(_INSERT, item)
        connection.execute(_GROWN, tail.grown(now))
        return tail.length

    @staticmethod
    def together(connection: sqlite3.Connection, appends: Sequence[Append]) -> list[int | MemoryRefused]:
        """Do one after the other in a transaction of the caller's.

        Returns:
            What each returned or raised.
        """
        now = appends[0].clock()
        tails: dict[tuple[str, str, str], _Tail] = {}
        new: list[tuple[int, int, str]] = []
        outcomes: list[int | MemoryRefused] = []
        for append in appends:
            where = append._where()
            try:
                tail = tails.get(where) or append._tail(connection, now)
                if tail is None:
                    outcomes.append(append._make(connection, now))
                    continue
                tails[where] = tail
                new += tail.grow(append)
                outcomes.append(tail.length)
            except MemoryRefused as refused:
                outcomes.append(refused)
        connection.executemany(_INSERT, new)
        connection.executemany(_GROWN, [tail.grown(now) for tail in tails.values()])
        return outcomes

    def _where(self) -> tuple[str, str, str]:
        return self.scope.kind.value, self.scope.id, self.key

    def _tail(self, connection: sqlite3.Connection, now: int) -> _Tail | None:
        found = connection.execute(_TAIL, (*self._where(), now)).fetchone()
        if found is None:
            return None
        number, kind, end, length, size = found
        if kind != "list":
            raise rows.wrong_kind(self.key, kind, "list")
        return _Tail(number, end, length, size)

    def _make(self, connection: sqlite3.Connection, now: int) -> int:
        size = sum(map(item_size, self.items))
        check_list_size(size)
        expires_at = None if self.lives is None else now + self.lives
        stored = Stored("list", "", tuple(self.items), size + 2)
        rows.put(connection, self.scope, self.key, stored, expires_at, now)
        return len(self.items)


class _Tail(msgspec.Struct):
    """The end of a list: the position behind its last item, how many items it has, and their bytes."""

    number: int
    end: int
    length: int
    size: int

    def grow(self, append: Append) -> list[tuple[int, int, str]]:
        """Move the end behind what is appended, and return what `_INSERT` takes.

        Raises:
            InputRefused: The list would grow too large; nothing is changed then.
        """
        size = self.size + sum(map(item_size, append.items))
        check_list_size(size)
        new = [(self.number, place, item) for place, item in enumerate(append.items, start=self.end)]
        self.end += len(new)
        self.length += len(new)
        self.size = size
        return new

    def grown(self, now: int) -> tuple[int, int, int, int]:
        """What `_GROWN` takes."""
        return self.length, self.size, now, self.number


def check_list_size(size: int) -> None:
    """Refuse a list that would grow beyond the limit.

    Args:
        size: Bytes.

    Raises:
        InputRefused: It would.
    """
    if size > LIST_LIMIT:
        raise InputRefused(
            "the list is too large", why=f"it would have {size:,} bytes, at most {LIST_LIMIT:,} are kept"
        )
