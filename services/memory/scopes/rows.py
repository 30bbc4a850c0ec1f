"""The rows of keys and values; what has expired is nowhere to be seen, though it may still lie there.

Every function runs inside a transaction of its caller. `now` is nanoseconds since 1970.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import msgspec

from services.errors import WrongKind
from services.memory.scopes.model import Entry, Kept, Kind, Scope, Snapshot, shortened
from services.memory.scopes.patterns import Pattern
from services.memory.scopes.values import Stored, joined, parse

_LIVE = "(expires_at IS NULL OR expires_at > ?)"
_COLUMNS = "number, key, kind, value, size, first, length, expires_at, updated_at"
_FIND = f"SELECT {_COLUMNS} FROM scoped_values WHERE scope = ? AND id = ? AND key = ? AND {_LIVE}"
_PUT = (
    "INSERT INTO scoped_values (scope, id, key, kind, value, size, length, expires_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET kind = excluded.kind, value = excluded.value,"
    " size = excluded.size, first = 0, length = excluded.length, expires_at = excluded.expires_at,"
    " updated_at = excluded.updated_at"
)
_PREVIEW = 200
_SWEEP = 500
_ROW_SIZE = 256


class Row(NamedTuple):
    """One live key."""

    number: int
    key: str
    kind: Kind
    value: str
    size: int
    first: int
    length: int
    expires_at: int | None
    updated_at: int

    @property
    def end(self) -> int:
        """The position behind a list's last item."""
        return self.first + self.length


def find(connection: sqlite3.Connection, scope: Scope, key: str, now: int) -> Row | None:
    """Look a key up."""
    found = connection.execute(_FIND, (scope.kind.value, scope.id, key, now)).fetchone()
    return None if found is None else Row._make(found)


def text_of(connection: sqlite3.Connection, row: Row) -> str:
    """Read the JSON of a key."""
    return joined(items_between(connection, row, row.first, row.end)) if row.kind == "list" else row.value


def each_item(connection: sqlite3.Connection, row: Row) -> Iterator[str]:
    """Read a list's items one by one."""
    query = "SELECT value FROM list_items WHERE list = ? AND position >= ? AND position < ? ORDER BY position"
    for (value,) in connection.execute(query, (row.number, row.first, row.end)):
        yield str(value)


def items_between(connection: sqlite3.Connection, row: Row, start: int, end: int) -> list[str]:
    """Read a list's items from one position up to another."""
    query = "SELECT value FROM list_items WHERE list = ? AND position >= ? AND position < ? ORDER BY position"
    return [value for (value,) in connection.execute(query, (row.number, start, end))]


def put(
    connection: sqlite3.Connection, scope: Scope, key: str, stored: Stored, expires_at: int | None, now: int
) -> None:
    """Write a key whatever was there."""
    where = (scope.kind.value, scope.id, key)
    length = len(stored.items)
    connection.execute(_PUT, (*where, stored.kind, stored.text, stored.size, length, expires_at, now))
    if length:  # asking for it with RETURNING would double the time
        query = "SELECT number FROM scoped_values WHERE scope = ? AND id = ? AND key = ?"
        (number,) = connection.execute(query, where).fetchone()
        insert_items(connection, number, 0, stored.items)


def put_without_items(
    connection: sqlite3.Connection, kept: Iterable[tuple[Scope, str, Stored, int | None]], now: int
) -> None:
    """Write keys that hold no list items, each with when it expires, whatever was there."""
    connection.executemany(
        _PUT,
        [
            (scope.kind.value, scope.id, key, stored.kind, stored.text, stored.size, 0, expires_at, now)
            for scope, key, stored, expires_at in kept
        ],
    )


def insert_items(connection: sqlite3.Connection, number: int, position: int, items: Iterable[str]) -> None:
    """Write items of a list from a position on."""
    for place, value in enumerate(items, start=position):
        connection.execute("INSERT INTO list_items (list, position, value) VALUES (?, ?, ?)", (number, place, value))


def remove(connection: sqlite3.Connection, scope: Scope, key: str, now: int) -> bool:
    """Delete a key; tell whether it was live."""
    row = find(connection, scope, key, now)
    query = "DELETE FROM scoped_values WHERE scope = ? AND id = ? AND key = ?"
    connection.execute(query, (scope.kind.value, scope.id, key))
    return row is not None


def remove_all(connection: sqlite3.Connection, scope: Scope, now: int) -> int:
    """Empty a namespace; count what was live."""
    count = count_matching(connection, scope, Pattern.parse(""), now)
    connection.execute("DELETE FROM scoped_values WHERE scope = ? AND id = ?", (scope.kind.value, scope.id))
    return count


def remove_matching(connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int) -> int:
    """Delete the keys a pattern matches; count what was live."""
    numbers = [(row.number,) for row in each_matching(connection, scope, pattern, now, "")]
    connection.executemany("DELETE FROM scoped_values WHERE number = ?", numbers)
    return len(numbers)


def touch(connection: sqlite3.Connection, row: Row, expires_at: int | None, now: int) -> None:
    """Change when a key expires."""
    query = "UPDATE scoped_values SET expires_at = ?, updated_at = ? WHERE number = ?"
    connection.execute(query, (expires_at, now, row.number))


def keys_matching(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, after: str = "", limit: int | None = None
) -> list[str]:
    """Read the keys a pattern matches, sorted."""
    if not pattern.plain:
        return [row.key for row in islice(each_matching(connection, scope, pattern, now, after), limit)]
    condition, values = key_range(scope, pattern, after)
    query = f"SELECT key FROM scoped_values WHERE {condition} AND {_LIVE} ORDER BY key LIMIT ?"
    return [key for (key,) in connection.execute(query, (*values, now, -1 if limit is None else limit))]


def count_matching(connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int) -> int:
    """Count the keys a pattern matches."""
    if not pattern.plain:
        return len(keys_matching(connection, scope, pattern, now))
    return _count(connection, *key_range(scope, pattern), now)


def count_between(connection: sqlite3.Connection, scope: Scope, first: str, end: str, now: int) -> int:
    """Count the live keys from `first` up to `end`."""
    values = [scope.kind.value, scope.id, first, end]
    return _count(connection, "scope = ? AND id = ? AND key >= ? AND key < ?", values, now)


def _count(connection: sqlite3.Connection, condition: str, values: list[str], now: int) -> int:
    """Count along the index of keys, and take off what the index of times says has expired."""
    query = f"SELECT count(*) FROM scoped_values WHERE {condition}"
    (all_of_them,) = connection.execute(query, values).fetchone()
    expired = query.replace("scoped_values", "scoped_values INDEXED BY scoped_values_that_expire")
    (too_many,) = connection.execute(f"{expired} AND expires_at <= ?", (*values, now)).fetchone()
    return int(all_of_them) - int(too_many)


def entries_matching(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, after: str, limit: int
) -> list[Entry]:
    """Read what a table shows of the keys a pattern matches, sorted by key."""
    return [entry_of(connection, row) for row in islice(each_matching(connection, scope, pattern, now, after), limit)]


def entry_of(connection: sqlite3.Connection, row: Row) -> Entry:
    """Describe a key with the beginning of its JSON."""
    preview = row.value[:_PREVIEW]
    if row.kind == "list":
        preview = joined(items_between(connection, row, row.first, min(row.end, row.first + _PREVIEW // 2)))[:_PREVIEW]
    return Entry(row.key, row.kind, preview, row.size, row.length, row.expires_at, row.updated_at)


def rows_from(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, key: str, limit: int
) -> list[Row]:
    """Read live rows of a plain pattern from a key on, that one too, sorted."""
    condition, values = key_range(scope, pattern)
    query = f"SELECT {_COLUMNS} FROM scoped_values WHERE {condition} AND {_LIVE} ORDER BY key LIMIT ?"
    values[2] = max(key, values[2])
    return [Row._make(found) for found in connection.execute(query, (*values, now, limit))]


def kept_matching(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, after: str = "", room: int | None = None
) -> tuple[Kept, ...]:
    """Read keys with their whole values and remaining times, sorted by key.

    Args:
        connection: In a transaction.
        scope: Whose keys.
        pattern: Which keys.
        now: Nanoseconds since 1970.
        after: Only keys behind this one.
        room: Bytes of values after which it stops; None is all.
    """
    found: list[Kept] = []
    size = 0
    for row in each_matching(connection, scope, pattern, now, after):
        if room is not None and size > room:
            break
        size += row.size + _ROW_SIZE
        remaining = None if row.expires_at is None else row.expires_at - now
        found.append(Kept(row.key, msgspec.Raw(text_of(connection, row).encode()), remaining))
    return tuple(found)


def snapshot_of(connection: sqlite3.Connection, scope: Scope, now: int) -> Snapshot:
    """Copy a whole namespace."""
    return Snapshot(scope.kind, scope.id, now, kept_matching(connection, scope, Pattern.parse(""), now))


def put_kept(connection: sqlite3.Connection, scope: Scope, entries: Iterable[Kept], now: int) -> int:
    """Write keys as they were kept, each with the time it had left; count them.

    Raises:
        InputRefused: A value is not acceptable.
    """
    count = 0
    for entry in entries:
        expires_at = None if entry.remaining is None else now + entry.remaining
        put(connection, scope, entry.key, parse(bytes(entry.value)), expires_at, now)
        count += 1
    return count


def scope_ids(connection: sqlite3.Connection, kind: str, after: str, limit: int, now: int) -> list[str]:
    """Read the ids of one kind that have a live key, sorted; leaps from one to the next however many keys they have."""
    query = (
        "WITH RECURSIVE ids (id) AS ("
        " SELECT min(id) FROM scoped_values WHERE scope = ?1 AND id > ?2"
        " UNION ALL SELECT (SELECT min(id) FROM scoped_values WHERE scope = ?1 AND id > ids.id) FROM ids"
        " WHERE ids.id IS NOT NULL)"
        " SELECT id FROM ids WHERE id IS NOT NULL AND EXISTS (SELECT 1 FROM scoped_values AS v"
        " WHERE v.scope = ?1 AND v.id = ids.id AND (v.expires_at IS NULL OR v.expires_at > ?3)) LIMIT ?4"
    )
    return [found for (found,) in connection.execute(query, (kind, after, now, limit))]


def count_up_to(connection: sqlite3.Connection, scope: Scope, most: int, now: int) -> int:
    """Count the live keys of a scope, and no further than `most` and one."""
    query = f"SELECT count(*) FROM (SELECT 1 FROM scoped_values WHERE scope = ? AND id = ? AND {_LIVE} LIMIT ?)"
    (count,) = connection.execute(query, (scope.kind.value, scope.id, now, most + 1)).fetchone()
    return int(count)


def sweep(connection: sqlite3.Connection, now: int) -> int:
    """Delete some of what has expired, the oldest first; 0 when nothing is left."""
    query = "DELETE FROM scoped_values WHERE number IN (SELECT number FROM scoped_values WHERE expires_at <= ? LIMIT ?)"
    return connection.execute(query, (now, _SWEEP)).rowcount


def of_kind(row: Row, kind: Kind) -> Row:
    """Return a row that holds this kind of value.

    Raises:
        WrongKind: It holds another.
    """
    if row.kind != kind:
        raise wrong_kind(row.key, row.kind, kind)
    return row


def wrong_kind(key: str, kind: Kind, wanted: Kind) -> WrongKind:
    """Say that a key holds another kind than is wanted."""
    return WrongKind(f"{shortened(key)} is not {kind_said(wanted)}", why=f"it holds {kind_said(kind)}")


def kind_said(kind: Kind) -> str:
    """Write a kind with its article, `null` and `text` without."""
    if kind in ("null", "text"):
        return kind
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def each_matching(
    connection: sqlite3.Connection, scope: Scope, pattern: Pattern, now: int, after: str = ""
) -> Iterator[Row]:
    """Read the live rows whose keys a pattern matches, sorted, behind a key."""
    condition, values = key_range(scope, pattern, after)
    if pattern.plain:
        query = f"SELECT {_COLUMNS} FROM scoped_values WHERE {condition} AND {_LIVE} ORDER BY key"
        yield from map(Row._make, connection.execute(query, (*values, now)))
        return
    query = f"SELECT key FROM scoped_values WHERE {condition} AND instr(key, ?) ORDER BY key"  # the index suffices
    for (key,) in connection.execute(query, (*values, max(pattern.parts, key=len))):
        if pattern.matches(key) and (row := find(connection, scope, key, now)) is not None:
            yield row


def key_range(scope: Scope, pattern: Pattern, after: str = "") -> tuple[str, list[str]]:
    """The keys that can match, with one lower bound: of two SQLite would use the first and scan up to the other."""
    first, end = pattern.bounds
    lower, least = ("key > ?", after) if after >= first and after else ("key >= ?", first)
    condition, values = f"scope = ? AND id = ? AND {lower}", [scope.kind.value, scope.id, least]
    if end is not None:
        condition, values = f"{condition} AND key < ?", [*values, end]
    return condition, values
