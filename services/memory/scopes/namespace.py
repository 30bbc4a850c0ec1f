"""One scope's keys and every operation on them; each is one transaction, and done once it is on disk."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass

from services.errors import InputRefused, NothingThere
from services.memory.scopes import rows
from services.memory.scopes.lists import Lists
from services.memory.scopes.model import (
    MISSING,
    Entry,
    Json,
    Kept,
    Missing,
    Scope,
    Snapshot,
    Stats,
    changed_meanwhile,
    check_kept,
    check_key,
    shortened,
)
from services.memory.scopes.paging import Pages
from services.memory.scopes.patterns import Pattern
from services.memory.scopes.storing import Store
from services.memory.scopes.times import Ttl, lifetime
from services.memory.scopes.values import LEAST_INTEGER, MOST_INTEGER, Stored, decode, encode, to_json

_PAGE = 200
_PAGE_BYTES = 256 * 1024

Initialiser = Callable[[str], Json | Awaitable[Json]]
"""Makes the value of a key that is missing; gets the key, may be async."""


@dataclass(frozen=True)
class Filled:
    """What `get_or_set_many` found or made.

    Attributes:
        values: By key.
        errors: What the initialiser raised, by the keys that therefore have no value.
    """

    values: dict[str, Json]
    errors: dict[str, Exception]


class Namespace(Lists, Pages):
    """One scope's keys.

    A key that has expired is missing for every operation. Reading never changes when a key expires. Every operation
    raises `InputRefused` for a key, value or time that is not acceptable, and `DatabaseError` when the database fails.
    """

    async def get(self, key: str) -> Json | Missing:
        """Read a value; a stored null is None, nothing stored is `MISSING`."""
        check_key(key)
        text = await self._read(lambda connection, now: _text(connection, self.scope, key, now))
        return MISSING if text is None else decode(text)

    async def has(self, key: str) -> bool:
        """Tell whether something is stored."""
        check_key(key)
        return await self._read(lambda connection, now: rows.find(connection, self.scope, key, now) is not None)

    async def set(self, key: str, value: Json, ttl: Ttl = None) -> None:
        """Store a value of any kind over whatever is there, and give it a new time to live."""
        check_key(key)
        stored, lives = encode(value), lifetime(ttl, self.scope.kind)
        await self._send(Store(self.scope, key, stored, lives, self._now))

    async def rewrite(self, key: str, value: Json, seen: Json | Missing) -> None:
        """Store a value over the one somebody saw, which keeps its time to live; a new key gets the scope's.

        Raises:
            ChangedMeanwhile: Something other than `seen` is there by now.
        """
        check_key(key)
        stored = encode(value)
        expected = None if seen is MISSING else to_json(seen)
        lives = lifetime(None, self.scope.kind)

        def job(connection: sqlite3.Connection, now: int) -> None:
            if _text(connection, self.scope, key, now) != expected:
                raise changed_meanwhile(key)
            row = rows.find(connection, self.scope, key, now)
            rows.put(connection, self.scope, key, stored, _end(lives, now) if row is None else row.expires_at, now)

        await self._write(job)

    async def delete(self, key: str) -> bool:
        """Delete one key, in which `*` means nothing; tell whether it was there."""
        check_key(key)
        return await self._write(lambda connection, now: rows.remove(connection, self.scope, key, now))

    async def delete_matching(self, pattern: str) -> int:
        """Delete the keys a pattern matches, and count them.

        Raises:
            InputRefused: The pattern is empty; `clear` empties a namespace.
        """
        if not pattern:
            raise InputRefused("the pattern is empty", fix="To delete every key, clear the namespace.")
        parsed = Pattern.parse(pattern)
        return await self._write(lambda connection, now: rows.remove_matching(connection, self.scope, parsed, now))

    async def keys(self, pattern: str = "", *, after: str = "", limit: int | None = None) -> list[str]:
        """Read keys, sorted by code point.

        Args:
            pattern: `*` stands for any text; "" is every key.
            after: Only keys behind this one, for paging.
            limit: At most so many; None is all.
        """
        parsed = Pattern.parse(pattern)
        return await self._read(
            lambda connection, now: rows.keys_matching(connection, self.scope, parsed, now, after, limit)
        )

    async def count(self, pattern: str = "") -> int:
        """Count the keys that `keys` would return."""
        parsed = Pattern.parse(pattern)
        return await self._read(lambda connection, now: rows.count_matching(connection, self.scope, parsed, now))

    async def entries(self, pattern: str = "", *, after: str = "", limit: int = _PAGE) -> list[Entry]:
        """Read what a table shows of keys, sorted; see `keys`."""
        parsed = Pattern.parse(pattern)
        return await self._read(
            lambda connection, now: rows.entries_matching(connection, self.scope, parsed, now, after, limit)
        )

    async def entry(self, key: str) -> Entry | None:
        """Read what a table shows of one key; None when it is missing."""
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> Entry | None:
            row = rows.find(connection, self.scope, key, now)
            return None if row is None else rows.entry_of(connection, row)

        return await self._read(job)

    async def expire(self, key: str, ttl: Ttl) -> None:
        """Change how long a key lives from now on.

        Raises:
            NothingThere: The key is missing.
        """
        check_key(key)
        lives = lifetime(ttl, self.scope.kind)

        def job(connection: sqlite3.Connection, now: int) -> None:
            row = rows.find(connection, self.scope, key, now)
            if row is None:
                raise NothingThere(f"nothing is stored under {shortened(key)}")
            rows.touch(connection, row, _end(lives, now), now)

        await self._write(job)

    async def get_or_set(self, key: str, initialiser: Initialiser, ttl: Ttl = None) -> Json:
        """Read a value, or make and store it when it is missing.

        When several callers find it missing at once each may run its initialiser; one value is stored, and all get it.
        What an initialiser raises is raised, and nothing is stored.
        """
        lives = lifetime(ttl, self.scope.kind)
        found = await self.get(key)
        if found is not MISSING:
            return found
        return (await self._fill({key: await _made(key, initialiser)}, lives))[key]

    async def get_or_set_many(self, keys: Iterable[str], initialiser: Initialiser, ttl: Ttl = None) -> Filled:
        """Do the same for many keys, storing all that was made at once.

        A key whose initialiser fails, or makes what cannot be stored, is left out and reported.
        """
        lives = lifetime(ttl, self.scope.kind)
        found = await self.get_many(keys)
        made: dict[str, Stored] = {}
        errors: dict[str, Exception] = {}
        for key in [key for key, value in found.items() if value is MISSING]:
            try:
                made[key] = await _made(key, initialiser)
            except Exception as error:
                errors[key] = error
        stored = await self._fill(made, lives) if made else {}
        return Filled({key: stored.get(key, value) for key, value in found.items() if key not in errors}, errors)

    async def get_delete(self, key: str) -> Json | Missing:
        """Take a value out; of several callers one gets it, the others `MISSING`."""
        check_key(key)

        def job(connection: sqlite3.Connection, now: int) -> str | None:
            text = _text(connection, self.scope, key, now)
            rows.remove(connection, self.scope, key, now)
            return text

        text = await self._write(job)
        return MISSING if text is None else decode(text)

    async def get_many(self, keys: Iterable[str]) -> dict[str, Json | Missing]:
        """Read many values as of one moment; every key asked for is in the result, `MISSING` where nothing is."""
        wanted = [check_key(key) for key in keys]

        def job(connection: sqlite3.Connection, now: int) -> dict[str, str | None]:
            return {key: _text(connection, self.scope, key, now) for key in wanted}

        texts = await self._read(job)
        return {key: MISSING if text is None else decode(text) for key, text in texts.items()}

    async def set_many(self, values: Mapping[str, Json], ttl: Ttl = None) -> None:
        """Store many values, all or none."""
        stored = {check_key(key): encode(value) for key, value in values.items()}
        lives = lifetime(ttl, self.scope.kind)

        def job(connection: sqlite3.Connection, now: int) -> None:
            for key, value in stored.items():
                rows.put(connection, self.scope, key, value, _end(lives, now), now)

        await self._write(job)

    async def delete_many(self, keys: Iterable[str]) -> int:
        """Delete many keys, and count those that were there."""
        unwanted = [check_key(key) for key in keys]
        return await self._write(
            lambda connection, now: sum(rows.remove(connection, self.scope, key, now) for key in unwanted)
        )

    async def incr(self, key: str, delta: int = 1, ttl: Ttl = None) -> int:
        """Add to an integer and return the sum; a missing one starts at 0.

        Args:
            key: The counter's.
            delta: Any integer of 64 bits.
            ttl: How long a new counter lives; one that exists keeps its time.

        Raises:
            WrongKind: The key holds something other than an integer.
            InputRefused: The sum needs more than 64 bits; the value is unchanged.
        """
        check_key(key)
        if isinstance(delta, bool) or not isinstance(delta, int):
            raise InputRefused(f"cannot add {delta!r}", why="it is not an integer")
        lives = lifetime(ttl, self.scope.kind)

        def job(connection: sqlite3.Connection, now: int) -> int:
            row = rows.find(connection, self.scope, key, now)
            total = delta if row is None else int(rows.of_kind(row, "integer").value) + delta
            if not LEAST_INTEGER <= total <= MOST_INTEGER:
                raise InputRefused(f"cannot add {delta} to {shortened(key)}", why="the sum needs more than 64 bits")
            text = str(total)
            expires_at = _end(lives, now) if row is None else row.expires_at
            rows.put(connection, self.scope, key, Stored("integer", text, (), len(text)), expires_at, now)
            return total

        return await self._write(job)

    async def decr(self, key: str, delta: int = 1, ttl: Ttl = None) -> int:
        """Subtract from an integer; see `incr`."""
        return await self.incr(key, -delta, ttl)

    async def clear(self) -> int:
        """Delete every key of this namespace and of no other, and count them."""
        return await self._write(lambda connection, now: rows.remove_all(connection, self.scope, now))

    async def stats(self) -> Stats:
        """Count the keys."""
        return Stats(self.scope.kind, self.scope.id, await self.count(), str(self._database.path))

    async def snapshot(self) -> Snapshot:
        """Copy everything, with the time each key has left, as of one moment."""
        return await self._read(lambda connection, now: rows.snapshot_of(connection, self.scope, now))

    async def restore(self, snapshot: Snapshot) -> int:
        """Replace everything by what a snapshot of any namespace holds, and count it; all or nothing.

        Keys live as long from now as they had left when it was taken.

        Raises:
            InputRefused: A key or value of the snapshot is not acceptable.
        """
        for entry in snapshot.entries:
            check_kept(entry)

        def job(connection: sqlite3.Connection, now: int) -> int:
            rows.remove_all(connection, self.scope, now)
            return rows.put_kept(connection, self.scope, snapshot.entries, now)

        return await self._write_whole(job)

    async def read_out(self, pattern: str = "") -> AsyncGenerator[tuple[Kept, ...], None]:
        """Yield keys with their values, page by page, sorted; each page is of the moment it is read."""
        parsed, after = Pattern.parse(pattern), ""
        while True:
            page = await self._page(parsed, after)
            if not page:
                return
            yield page
            after = page[-1].key

    def _page(self, pattern: Pattern, after: str) -> Awaitable[tuple[Kept, ...]]:
        return self._read(
            lambda connection, now: rows.kept_matching(connection, self.scope, pattern, now, after, _PAGE_BYTES)
        )

    async def take_in(self, entries: Iterable[Kept]) -> int:
        """Store keys that were read out, over whatever is there, and count them; all or none.

        Raises:
            InputRefused: A key, value or time is not acceptable.
        """
        checked = [check_kept(entry) for entry in entries]
        return await self._write_whole(lambda connection, now: rows.put_kept(connection, self.scope, checked, now))

    async def _fill(self, made: Mapping[str, Stored], lives: int | None) -> dict[str, Json]:
        """Store what was made unless somebody was faster, and return what is stored then."""

        def job(connection: sqlite3.Connection, now: int) -> dict[str, str]:
            for key, value in made.items():
                if rows.find(connection, self.scope, key, now) is None:
                    rows.put(connection, self.scope, key, value, _end(lives, now), now)
            return {key: _text(connection, self.scope, key, now) or "" for key in made}

        return {key: decode(text) for key, text in (await self._write(job)).items()}


async def _made(key: str, initialiser: Initialiser) -> Stored:
    """Make a value.

    Raises:
        InputRefused: What was made cannot be stored.
    """
    made = initialiser(key)
    return encode(await made if inspect.isawaitable(made) else made)


def _text(connection: sqlite3.Connection, scope: Scope, key: str, now: int) -> str | None:
    row = rows.find(connection, scope, key, now)
    return None if row is None else rows.text_of(connection, row)


def _end(lives: int | None, now: int) -> int | None:
    return None if lives is None else now + lives
