"""Lists inside a namespace: an item costs the same to add, take or change however long the list is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from services.errors import InputRefused, NothingThere
from services.memory.scopes import rows
from services.memory.scopes.access import Access
from services.memory.scopes.appending import Append, check_list_size
from services.memory.scopes.model import Json, Scope, check_key, shortened
from services.memory.scopes.times import Ttl, lifetime
from services.memory.scopes.values import LIST_LIMIT, decode, item_size, to_json

LAST, FIRST = 1, -1
"""Where `pop` takes from."""


class Lists(Access):
    """The operations of a namespace on lists; a key of another kind is never changed by them.

    Every list operation raises:
        WrongKind: The key holds something other than a list.
        InputRefused: The key or a value is not acceptable, or the list would grow too large.
    """

    async def push(self, key: str, *values: Json, ttl: Ttl = None) -> int:
        """Append values in order and return the list's new length.

        Args:
            key: Made with the first value.
            values: What to append.
            ttl: How long a new list lives; one that exists keeps its time.
        """
        check_key(key)
        items, lives = [to_json(value) for value in values], lifetime(ttl, self.scope.kind)
        return await self._send(Append(self.scope, key, items, lives, self._now))

    async def add_to_set(self, key: str, *values: Json, ttl: Ttl = None) -> int:
        """Append those values that the list does not have yet, and return how many those were.

        Values are equal when their JSON is; 1 and 1.0 differ, the order of an object's names does not matter.

        Args:
            key: Made when missing.
            values: What to add.
            ttl: How long a new list lives; one that exists keeps its time.
        """
        check_key(key)
        items, lives = list(dict.fromkeys(map(to_json, values))), lifetime(ttl, self.scope.kind)

        def job(connection: sqlite3.Connection, now: int) -> int:
            row = _list(connection, self.scope, key, now)
            query = "SELECT 1 FROM list_items WHERE list = ? AND value = ?"
            new = [
                value for value in items if row is None or not connection.execute(query, (row.number, value)).fetchone()
            ]
            if new or row is None:
                Append(self.scope, key, new, lives, lambda: now)(connection)
            return len(new)

        return await self._write(job)

    async def pop(self, key: str, position: int = LAST) -> Json:
        """Take one item out and return it; an emptied list stays.

        Args:
            key: The list's.
            position: 1 takes the last item, -1 the first.

        Raises:
            InputRefused: The position is neither.
            NothingThere: The list is missing or empty.
        """
        check_key(key)
        if position not in (LAST, FIRST):
            raise InputRefused(f"cannot pop at {position!r}", fix="1 takes the last item, -1 the first.")

        def job(connection: sqlite3.Connection, now: int) -> str:
            row = _existing_list(connection, self.scope, key, now)
            if not row.length:
                raise NothingThere(f"the list {shortened(key)} is empty")
            place = row.end - 1 if position == LAST else row.first
            (text,) = rows.items_between(connection, row, place, place + 1)
            connection.execute("DELETE FROM list_items WHERE list = ? AND position = ?", (row.number, place))
            first = row.first if position == LAST else row.first + 1
            _resize(connection, row, first, row.length - 1, row.size - item_size(text), now)
            return text

        return decode(await self._write(job))

    async def pull(self, key: str, value: Json) -> int:
        """Take out every item equal to a value and return how many those were; 0 for a missing key."""
        return await self.pull_all(key, [value])

    async def pull_all(self, key: str, values: Iterable[Json]) -> int:
        """Take out every item equal to one of the values and return how many those were; 0 for a missing key."""
        check_key(key)
        unwanted = set(map(to_json, values))

        def job(connection: sqlite3.Connection, now: int) -> int:
            row = _list(connection, self.scope, key, now)
            if row is None:
                return 0
            items = rows.items_between(connection, row, row.first, row.end)
            left = [text for text in items if text not in unwanted]
            pulled = len(items) - len(left)
            if pulled:
                size = row.size - sum(item_size(text) for text in items if text in unwanted)
                connection.execute("DELETE FROM list_items WHERE list = ?", (row.number,))
                rows.insert_items(connection, row.number, 0, left)
                _resize(connection, row, 0, len(left), size, now)
            return pulled

        return await self._write(job)

    async def array_len(self, key: str) -> int:
        """Count the items; 0 for a missing key."""
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> int:
            row = _list(connection, self.scope, key, now)
            return 0 if row is None else row.length

        return await self._read(job)

    async def array_get(self, key: str, index: int) -> Json:
        """Read one item.

        Args:
            key: The list's.
            index: Counted from 0; negative counts from the end, -1 is the last.

        Raises:
            NothingThere: There is no such list or item.
        """
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> str:
            row = _existing_list(connection, self.scope, key, now)
            place = _place(row, index)
            return rows.items_between(connection, row, place, place + 1)[0]

        return decode(await self._read(job))

    async def array_set(self, key: str, index: int, value: Json) -> None:
        """Replace one item; never makes a list longer.

        Args:
            key: The list's.
            index: Counted from 0; negative counts from the end.
            value: The new item.

        Raises:
            NothingThere: There is no such list or item.
        """
        check_key(key)
        text = to_json(value)

        def job(connection: sqlite3.Connection, now: int) -> None:
            row = _existing_list(connection, self.scope, key, now)
            place = _place(row, index)
            (before,) = rows.items_between(connection, row, place, place + 1)
            size = row.size - item_size(before) + item_size(text)
            check_list_size(size)
            query = "UPDATE list_items SET value = ? WHERE list = ? AND position = ?"
            connection.execute(query, (text, row.number, place))
            _resize(connection, row, row.first, row.length, size, now)

        await self._write(job)

    async def array_slice(self, key: str, skip: int, limit: int) -> list[Json]:
        """Read at most `limit` items after the first `skip`.

        A negative `skip` is 0; a limit below 1, a start past the end and a missing key give no items.
        """
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> list[str]:
            row = _list(connection, self.scope, key, now)
            if row is None or limit < 1:
                return []
            start = min(max(skip, 0), row.length)
            end = min(start + limit, row.length)
            return rows.items_between(connection, row, row.first + start, row.first + end)

        return [decode(text) for text in await self._read(job)]

    async def array_page(self, key: str, page: int, size: int) -> list[Json]:
        """Read one page; pages count from 1, and one below that is the first. A size below 1 gives no items."""
        return await self.array_slice(key, (max(page, 1) - 1) * size, size)

    async def array_all(self, key: str) -> list[Json]:
        """Read a copy of all items; none for a missing key."""
        return await self.array_slice(key, 0, LIST_LIMIT)


def _list(connection: sqlite3.Connection, scope: Scope, key: str, now: int) -> rows.Row | None:
    row = rows.find(connection, scope, key, now)
    return None if row is None else rows.of_kind(row, "list")


def _existing_list(connection: sqlite3.Connection, scope: Scope, key: str, now: int) -> rows.Row:
    row = _list(connection, scope, key, now)
    if row is None:
        raise NothingThere(f"there is no list {shortened(key)}")
    return row


def _place(row: rows.Row, index: int) -> int:
    """Turn an index into a position."""
    if not -row.length <= index < row.length:
        raise NothingThere(f"the list {shortened(row.key)} has no item {index}", why=f"it has {row.length:,}")
    return row.end + index if index < 0 else row.first + index


def _resize(connection: sqlite3.Connection, row: rows.Row, first: int, length: int, size: int, now: int) -> None:
    query = "UPDATE scoped_values SET first = ?, length = ?, size = ?, updated_at = ? WHERE number = ?"
    connection.execute(query, (first, length, size, now, row.number))
