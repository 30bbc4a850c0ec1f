"""Every scope of a home: its namespaces, the ids there are, and the sweep of what has expired."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from services.home import Database
from services.memory.scopes import rows
from services.memory.scopes.group_writes import GroupWrites
from services.memory.scopes.model import Scope, ScopeCount, ScopeKind, check_name
from services.memory.scopes.moving import Move, move
from services.memory.scopes.namespace import Namespace
from services.memory.scopes.recording import Change, Recorded, take_back
from services.memory.scopes.searching import Found, search_part


@dataclass(frozen=True)
class Surroundings:
    """The namespaces somebody works in; None where there is no id."""

    user: Namespace | None = None
    team: Namespace | None = None
    chat: Namespace | None = None
    context: Namespace | None = None

    def of(self, kind: str) -> Namespace | None:
        """Find the namespace of one kind; None for an unknown kind too."""
        return {"user": self.user, "team": self.team, "chat": self.chat, "context": self.context}.get(kind)

    def within(self, context: Namespace | None) -> Surroundings:
        """The same, with another context; None shares this one's."""
        return self if context is None else replace(self, context=context)


class Scopes:
    """The scopes of a home.

    It keeps no value in memory: whoever asks for the same scope sees the same keys, in this process or another.

    Args:
        database: Where keys are kept.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, now: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._writes = GroupWrites(database)
        self._now = now

    def namespace(self, scope: Scope) -> Namespace:
        """The keys of one scope; there need not be any."""
        return Namespace(scope, self._writes, self._now)

    def surroundings(self, *, user: str = "", team: str = "", chat: str = "", context: str = "") -> Surroundings:
        """The namespaces with these ids.

        Raises:
            InputRefused: An id cannot be one.
        """
        ids = {"user": user, "team": team, "chat": chat, "context": context}
        return Surroundings(
            **{kind: self.namespace(Scope(ScopeKind(kind), text)) for kind, text in ids.items() if text}
        )

    async def ids(self, kind: ScopeKind, *, after: str = "", limit: int = 1000) -> list[str]:
        """Read the ids of one kind that have keys, sorted.

        Args:
            kind: Which scopes.
            after: Only ids behind this one, for paging.
            limit: At most so many.
        """
        return await self._database.read(
            lambda connection: rows.scope_ids(connection, kind.value, after, limit, self._now())
        )

    async def counted(
        self, kind: ScopeKind, *, after: str = "", limit: int = 200, most: int = 100_000
    ) -> list[ScopeCount]:
        """Read the scopes of one kind that have keys, sorted by id, with how many.

        Args:
            kind: Which scopes.
            after: Only ids behind this one, for paging.
            limit: At most so many scopes.
            most: Count no further; a scope with more has one more than this.
        """

        def job(connection: sqlite3.Connection) -> list[ScopeCount]:
            now = self._now()
            scopes = [Scope(kind, name) for name in rows.scope_ids(connection, kind.value, after, limit, now)]
            return [ScopeCount(scope, rows.count_up_to(connection, scope, most, now)) for scope in scopes]

        return await self._database.read(job)

    def recorded(self, scope: Scope, watched: Sequence[str] | str) -> Recorded:
        """The keys of one scope, with what was there before a change kept so that it can be taken back.

        Args:
            scope: Whose keys.
            watched: The keys that will change, or a pattern that matches them all, "" being every key.
        """
        return Recorded(scope, self._writes, self._now, watched)

    async def take_back(self, change: Change, *, anyway: bool = False) -> int:
        """Put back what was there before a change, each key with the time it would have left, and count the keys.

        Args:
            change: What `recorded` kept.
            anyway: Also where somebody changed a key since.

        Raises:
            ChangedMeanwhile: Somebody did; nothing is put back.
        """
        return await self._database.write(lambda connection: take_back(connection, change, self._now(), anyway=anyway))

    async def move(
        self, source: Scope, target: Scope, keys: Sequence[str], *, replace: bool = False, dry_run: bool = False
    ) -> Move:
        """Move keys to another scope with the time each has left, all or none.

        Args:
            source: Whose keys.
            target: Where to.
            keys: Which.
            replace: Also keys that the target has; else those stay where they are.
            dry_run: Only tell what would be done.

        Raises:
            InputRefused: Both scopes are the same.
        """

        def job(connection: sqlite3.Connection) -> Move:
            return move(connection, source, target, keys, self._now(), replace=replace, dry_run=dry_run)

        return await (self._database.read(job) if dry_run else self._database.write(job))

    async def search(self, text: str, *, limit: int = 500) -> AsyncGenerator[tuple[Found, ...], None]:
        """Find the scopes' keys whose id, key or value contains a text, whatever its ASCII letters' case.

        Yields some at a time, an empty tuple where a part held none; whoever has enough stops.

        Args:
            text: Any; none of its characters is special.
            limit: At most so many in all.
        """
        check_name(text, "the text to search for")
        behind: int | None = 0
        while behind is not None and limit > 0:
            found, behind = await self._search_part(text, behind, limit)
            limit -= len(found)
            yield found

    def _search_part(self, text: str, behind: int, limit: int) -> Awaitable[tuple[tuple[Found, ...], int | None]]:
        return self._database.read(lambda c: search_part(c, text, behind, limit, self._now()))

    async def sweep(self) -> int:
        """Delete what has expired, a part a transaction, and count it."""
        count = 0
        while part := await self._database.write(lambda connection: rows.sweep(connection, self._now())):
            count += part
        return count
