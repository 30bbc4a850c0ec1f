"""The append-only record of what operators, agents and Pinfold itself did."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from services.activity.events import ActivityGrew, Events
from services.home import Database

Outcome = Literal["done", "refused", "failed"]


@dataclass(frozen=True)
class Draft:
    """An entry about to be appended; see `Entry`."""

    verb: str
    actor: str = "operator"
    agent: str = ""
    session: str = ""
    outcome: Outcome = "done"
    detail: str = ""


@dataclass(frozen=True)
class Entry:
    """One line of the activity log.

    Attributes:
        number: Rises by entry; never reused.
        at: Nanoseconds since 1970, UTC.
        actor: `operator`, `pinfold` or `agent:<alias>`.
        verb: What was done, dotted: `session.start`, `agent.enable`.
        agent: The alias concerned, or "".
        session: The session concerned, or "".
        detail: For people; never holds a secret.
    """

    number: int
    at: int
    actor: str
    verb: str
    agent: str
    session: str
    outcome: Outcome
    detail: str


_COLUMNS = "number, at, actor, verb, agent, session, outcome, detail"
_DETAIL_LIMIT = 4000


def _storable(detail: str) -> str:
    """Cut what is too long to log and replace what is no text, such as a file name that is not UTF-8."""
    return detail[:_DETAIL_LIMIT].encode("utf-8", errors="replace").decode("utf-8")


class ActivityLog:
    """Writes and reads the activity log of a home.

    Args:
        database: Where it is kept.
        events: Told of every entry.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, events: Events, now: Callable[[], int] = time.time_ns) -> None:
        self._database = database
        self._events = events
        self._now = now

    async def record(
        self,
        verb: str,
        *,
        actor: str = "operator",
        agent: str = "",
        session: str = "",
        outcome: Outcome = "done",
        detail: str = "",
    ) -> None:
        """Append one entry.

        Raises:
            DatabaseError: It could not be written.
        """
        draft = Draft(verb, actor, agent, session, outcome, detail)
        await self._database.write(lambda connection: self.append(connection, draft))
        self._events.publish(ActivityGrew())

    def append(self, connection: sqlite3.Connection, draft: Draft) -> None:
        """Append an entry inside a transaction of the caller, who publishes `ActivityGrew` once it is committed.

        An entry then exists exactly when the change it tells of does.
        """
        connection.execute(
            "INSERT INTO activity (at, actor, verb, agent, session, outcome, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._now(), draft.actor, draft.verb, draft.agent, draft.session, draft.outcome, _storable(draft.detail)),
        )

    async def recent(
        self, limit: int = 100, *, before: int | None = None, agent: str = "", session: str = ""
    ) -> list[Entry]:
        """Read the newest entries, newest last.

        Args:
            limit: At most so many.
            before: Only entries with a smaller number, for paging back.
            agent: Only of this agent.
            session: Only of this session.
        """
        conditions, values = ["1"], []
        for condition, value in (("number < ?", before), ("agent = ?", agent), ("session = ?", session)):
            if value not in (None, ""):
                conditions.append(condition)
                values.append(value)
        query = f"SELECT {_COLUMNS} FROM activity WHERE {' AND '.join(conditions)} ORDER BY number DESC LIMIT ?"
        rows = await self._database.read(lambda connection: connection.execute(query, (*values, limit)).fetchall())
        return [Entry(*row) for row in reversed(rows)]

    async def after(self, number: int, limit: int = 1000) -> list[Entry]:
        """Read entries with a greater number than `number`, oldest first."""
        query = f"SELECT {_COLUMNS} FROM activity WHERE number > ? ORDER BY number LIMIT ?"
        rows = await self._database.read(lambda connection: connection.execute(query, (number, limit)).fetchall())
        return [Entry(*row) for row in rows]

    async def follow(self, after: int) -> AsyncGenerator[Entry, None]:
        """Yield entries beyond number `after` as they come, from every process on this home.

        Raises:
            DatabaseError: They cannot be read.
        """
        position = after
        async with aclosing(self._database.changes()) as changes:
            async for _ in changes:
                while entries := await self.after(position):
                    for entry in entries:
                        yield entry
                        position = entry.number
