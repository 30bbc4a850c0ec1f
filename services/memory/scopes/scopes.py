"""Every scope of a home: its namespaces, the ids there are, and the sweep of what has expired."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from services.home import Database
from services.memory.scopes import rows
from services.memory.scopes.group_writes import GroupWrites
from services.memory.scopes.model import Scope, ScopeKind
from services.memory.scopes.namespace import Namespace


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

    async def sweep(self) -> int:
        """Delete what has expired, a part a transaction, and count it."""
        count = 0
        while part := await self._database.write(lambda connection: rows.sweep(connection, self._now())):
            count += part
        return count
