"""Calls that wait for an operator's word, and the words given."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import aclosing
from enum import StrEnum

import msgspec

from services.activity import ActivityGrew, ActivityLog, Draft, Events
from services.errors import SessionRefused
from services.home import Database

_SECOND = 10**9
_SUMMARY = 400
_COLUMNS = "number, session, agent, tool, summary, reason, asked_at, until"


class Answer(StrEnum):
    """What became of a question."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    TIMED_OUT = "timed out"


_ANSWERS = {"allowed": Answer.ALLOWED, "refused": Answer.REFUSED, "withdrawn": Answer.TIMED_OUT}


class Approval(msgspec.Struct, frozen=True):
    """A call that waits.

    Attributes:
        number: By which it is answered.
        summary: Its arguments for people, shortened, secrets masked; hostile until shown by `safe`.
        reason: Why it is asked.
        asked_at, until: Nanoseconds since 1970; unanswered by `until`, it is refused.
    """

    number: int
    session: str
    agent: str
    tool: str
    summary: str
    reason: str
    asked_at: int
    until: int


class Approvals:
    """Asks operators and takes their answers, whichever process either is in.

    Args:
        database: Where questions wait.
        activity: Gets each question and answer.
        events: Told of them.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, database: Database, activity: ActivityLog, events: Events, now: Callable[[], int]) -> None:
        self._database = database
        self._activity = activity
        self._events = events
        self._now = now

    async def waiting(self) -> list[Approval]:
        """Read the calls that wait now, the oldest first."""
        sql = f"SELECT {_COLUMNS} FROM approvals WHERE state = 'waiting' AND until > ? ORDER BY number"
        return await self._database.read(lambda c: [Approval(*row) for row in c.execute(sql, (self._now(),))])

    async def answer(self, number: int, *, allow: bool, whole_session: bool = False) -> Approval:
        """Allow or refuse a call that waits.

        Args:
            number: The approval's.
            allow: Else it is refused.
            whole_session: Also do not ask for this tool again in this session; what is always asked still is.

        Raises:
            SessionRefused: No such call waits (any more).
        """

        def job(connection: sqlite3.Connection) -> Approval:
            sql = f"SELECT {_COLUMNS} FROM approvals WHERE number = ? AND state = 'waiting' AND until > ?"
            found = connection.execute(sql, (number, self._now())).fetchone()
            if found is None:
                raise SessionRefused(
                    f"approval {number} cannot be answered",
                    why="it was answered, withdrawn or timed out, or never asked",
                    fix="`pinfold approvals list` shows what waits.",
                )
            approval = Approval(*found)
            _settle(connection, number, "allowed" if allow else "refused", whole_session=allow and whole_session)
            detail = f"{approval.tool} for the whole session" if allow and whole_session else approval.tool
            verb = "approval.allow" if allow else "approval.refuse"
            entry = Draft(verb, "operator", approval.agent, approval.session, "done", detail)
            self._activity.append(connection, entry)
            return approval

        approval = await self._database.write(job)
        self._events.publish(ActivityGrew())
        return approval

    async def allowed_before(self, session: str, tool: str) -> bool:
        """Whether an operator allowed a tool for the whole of a session."""
        sql = "SELECT 1 FROM approvals WHERE session = ? AND tool = ? AND state = 'allowed' AND whole_session = 1"
        found = await self._database.read(lambda connection: connection.execute(sql, (session, tool)).fetchone())
        return found is not None

    async def ask(self, session: str, agent: str, tool: str, *, summary: str, reason: str, seconds: float) -> Answer:
        """Wait for an operator's answer; a caller that is cancelled withdraws the question.

        Args:
            session: The session's id.
            agent: Its agent.
            tool: What it wants to call.
            summary: The arguments, secrets masked; shortened here.
            reason: Why it is asked.
            seconds: After which nobody answers any more.
        """
        asked_at = self._now()
        row = (session, agent, tool, _shortened(summary), reason, asked_at, asked_at + int(seconds * _SECOND))

        def job(connection: sqlite3.Connection) -> int:
            sql = (
                "INSERT INTO approvals (session, agent, tool, summary, reason, asked_at, until, state)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting') RETURNING number"
            )
            (number,) = connection.execute(sql, row).fetchone()
            self._activity.append(connection, Draft("approval.ask", f"agent:{agent}", agent, session, "done", tool))
            return int(number)

        number = await self._database.write(job)
        self._events.publish(ActivityGrew())
        try:
            async with asyncio.timeout(seconds):
                await self._answered(number)
        except TimeoutError:
            pass  # an answer that was given at the last moment still counts
        finally:
            state = await asyncio.shield(self._database.write(lambda connection: _withdraw(connection, number)))
        return _ANSWERS[state]

    async def _answered(self, number: int) -> None:
        async with aclosing(self._database.changes()) as changes:
            async for _ in changes:
                if await self._database.read(lambda connection: _state(connection, number)) != "waiting":
                    return


def _settle(connection: sqlite3.Connection, number: int, state: str, *, whole_session: bool) -> None:
    """Answer a question that still waits; what was asked is forgotten with that."""
    connection.execute(
        "UPDATE approvals SET state = ?, whole_session = ?, summary = '' WHERE number = ? AND state = 'waiting'",
        (state, whole_session, number),
    )


def _withdraw(connection: sqlite3.Connection, number: int) -> str:
    _settle(connection, number, "withdrawn", whole_session=False)
    return _state(connection, number)


def _state(connection: sqlite3.Connection, number: int) -> str:
    """A session that was removed takes its questions along."""
    found = connection.execute("SELECT state FROM approvals WHERE number = ?", (number,)).fetchone()
    return "refused" if found is None else str(found[0])


def _shortened(text: str) -> str:
    return text if len(text) <= _SUMMARY else f"{text[: _SUMMARY - 1]}…"
