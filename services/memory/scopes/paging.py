"""What a screen reads of one scope: some of its keys at any place, and the beginning of a value."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left

import msgspec

from services.memory.scopes import rows
from services.memory.scopes.access import Access
from services.memory.scopes.model import Entry, Scope, check_key
from services.memory.scopes.patterns import Pattern

_ROUNDS = 8
_WINDOW = 200


class KeyPage(msgspec.Struct, frozen=True):
    """Some keys of a listing, sorted, as of one moment.

    Attributes:
        start: How many keys come before the first.
        total: How many the whole listing has.
        place: How many come before the key that was asked about; `start` where none was.
    """

    entries: tuple[Entry, ...]
    start: int
    total: int
    place: int


class Excerpt(msgspec.Struct, frozen=True):
    """A key with the beginning of its value.

    Attributes:
        text: JSON, cut off where it is not whole.
        whole: Whether all of it is here.
    """

    entry: Entry
    text: str
    whole: bool


class Pages(Access):
    """Reads of a namespace that cost what they return, besides a count along the index of keys."""

    async def page(self, pattern: str = "", *, start: int = 0, limit: int = _WINDOW) -> KeyPage:
        """Read what a table shows of keys from a place on; see `Namespace.entries`.

        Args:
            pattern: Which keys.
            start: The place of the first, counted from 0.
            limit: At most so many.
        """
        parsed = Pattern.parse(pattern)
        return await self._read(lambda c, now: _page(c, self.scope, parsed, now, max(start, 0), limit))

    async def page_around(self, key: str, pattern: str = "", *, before: int = 0, limit: int = _WINDOW) -> KeyPage:
        """Read the page that a key is on, or would be.

        Args:
            key: In the listing or not.
            pattern: Which keys.
            before: How many rows to begin before it.
            limit: At most so many.
        """
        check_key(key)
        parsed = Pattern.parse(pattern)

        def job(connection: sqlite3.Connection, now: int) -> KeyPage:
            place = _place(connection, self.scope, parsed, now, key)
            found = _page(connection, self.scope, parsed, now, max(place - before, 0), limit)
            return msgspec.structs.replace(found, place=place)

        return await self._read(job)

    async def excerpt(self, key: str, limit: int) -> Excerpt | None:
        """Read the first characters of a value; None when the key is missing."""
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> Excerpt | None:
            row = rows.find(connection, self.scope, key, now)
            if row is None:
                return None
            text = row.value if row.kind != "list" else _list_text(connection, row, limit)
            return Excerpt(rows.entry_of(connection, row), text[:limit], len(text) <= limit)

        return await self._read(job)


def _page(connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, start: int, limit: int) -> KeyPage:
    if not pattern.plain:
        names = rows.keys_matching(connection, scope, pattern, now)
        found = (rows.find(connection, scope, name, now) for name in names[start : start + limit])
        entries = tuple(rows.entry_of(connection, row) for row in found if row is not None)
        return KeyPage(entries, start, len(names), start)
    total = rows.count_matching(connection, scope, pattern, now)
    first, place = _key_at(connection, scope, pattern, now, start)
    if first is None or start >= total:
        return KeyPage((), total, total, total)
    entries = tuple(
        rows.entry_of(connection, row) for row in rows.rows_from(connection, scope, pattern, now, first, limit)
    )
    return KeyPage(entries, place, total, place)


def _key_at(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, start: int
) -> tuple[str | None, int]:
    """Find the live key at a place, and its place; walks along the index only, past what has expired too."""
    condition, values = rows.key_range(scope, pattern)
    query = f"SELECT key FROM scoped_values WHERE {condition} ORDER BY key LIMIT 1 OFFSET ?"
    offset = start
    key, place = None, 0
    for _ in range(_ROUNDS):
        found = connection.execute(query, (*values, offset)).fetchone()
        if found is None:
            return key, place
        key = str(found[0])
        place = _place(connection, scope, pattern, now, key)
        if place >= start:
            break
        offset += start - place
    return key, place


def _place(connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, key: str) -> int:
    """Count the live keys of a listing before a key."""
    if not pattern.plain:
        return bisect_left(rows.keys_matching(connection, scope, pattern, now), key)
    first, end = pattern.bounds
    behind = key if end is None else min(key, end)
    return rows.count_between(connection, scope, first, behind, now) if first < behind else 0


def _list_text(connection: sqlite3.Connection, row: rows.Row, limit: int) -> str:
    """A list's JSON, or a beginning longer than `limit`."""
    parts: list[str] = []
    size = 0
    for value in rows.each_item(connection, row):
        parts.append(value)
        size += len(value) + 1
        if size > limit + 1:
            return f"[{','.join(parts)}"
    return f"[{','.join(parts)}]"
