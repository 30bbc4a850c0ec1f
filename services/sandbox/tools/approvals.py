"""Calls that wait for an operator's word, and the words given."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import aclosing
from enum import StrEnum
from typing import Any

import msgspec

from services.activity import ActivityGrew, ActivityLog, ApprovalsChanged, Draft, Events
from services.errors import SessionRefused
from services.home import Database

_SECOND = 10**9
_SUMMARY = 400
_COLUMNS = "number, session, agent, tool, summary, reason, asked_at, until, rule, every_time"


class Answer(StrEnum):
    """What became of a question."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    TIMED_OUT = "timed out"


_ANSWERS = {"allowed": Answer.ALLOWED, "refused": Answer.REFUSED, "withdrawn": Answer.TIMED_OUT}


class Reply(msgspec.Struct, frozen=True):
    """What an asker is told.

    Attributes:
        words: Why the operator refused; "" when nothing was said.
    """

    answer: Answer
    words: str = ""


class Approval(msgspec.Struct, frozen=True):
    """A call that waits.

    Attributes:
        number: By which it is answered.
        summary: Its arguments for people, shortened, secrets masked; hostile until shown by `safe`.
        reason: Why it is asked.
        asked_at, until: Nanoseconds since 1970; unanswered by `until`, it is refused.
        rule: Which rule asks, and where it is written.
        every_time: Asked though the tool was allowed for the whole session.
    """

    number: int
    session: str
    agent: str
    tool: str
    summary: str
    reason: str
    asked_at: int
    until: int
    rule: str = ""
    every_time: bool = False


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
        return await self._database.read(lambda c: [_approval(row) for row in c.execute(sql, (self._now(),))])

    async def answer(self, number: int, *, allow: bool, whole_session: bool = False, words: str = "") -> Approval:
        """Allow or refuse a call that waits.

        Args:
            number: The approval's.
            allow: Else it is refused.
            whole_session: Also do not ask for this tool again in this session; what is always asked still is.
            words: Why it is refused; the agent is told, shortened.

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
            approval = _approval(found)
            said = "" if allow else _shortened(words)
            state = "allowed" if allow else "refused"
            _settle(connection, number, state, whole_session=allow and whole_session, words=said)
            detail = f"{approval.tool} for the whole session" if allow and whole_session else approval.tool
            detail = f"{detail}: {said}" if said else detail
            verb = "approval.allow" if allow else "approval.refuse"
            entry = Draft(verb, "operator", approval.agent, approval.session, "done", detail)
            self._activity.append(connection, entry)
            return approval

        approval = await self._database.write(job)
        self._tell()
        return approval

    def _tell(self) -> None:
        self._events.publish(ApprovalsChanged())
        self._events.publish(ActivityGrew())

    async def allowed_before(self, session: str, tool: str) -> bool:
        """Whether an operator allowed a tool for the whole of a session."""
        sql = "SELECT 1 FROM approvals WHERE session = ? AND tool = ? AND state = 'allowed' AND whole_session = 1"
        found = await self._database.read(lambda connection: connection.execute(sql, (session, tool)).fetchone())
        return found is not None

    async def ask(
        self,
        session: str,
        agent: str,
        tool: str,
        *,
        summary: str,
        reason: str,
        seconds: float,
        rule: str = "",
        every_time: bool = False,
    ) -> Reply:
        """Wait for an operator's answer; a caller that is cancelled withdraws the question.

        Args:
            session: The session's id.
            agent: Its agent.
            tool: What it wants to call.
            summary: The arguments, secrets masked; shortened here.
            reason: Why it is asked.
            seconds: After which nobody answers any more.
            rule: Which rule asks, and where it is written.
            every_time: Whether it is asked even when allowed for the whole session.
        """
        asked_at = self._now()
        until = asked_at + int(seconds * _SECOND)
        row = (session, agent, tool, _shortened(summary), reason, asked_at, until, rule, every_time)

        def job(connection: sqlite3.Connection) -> int:
            sql = (
                "INSERT INTO approvals (session, agent, tool, summary, reason, asked_at, until, rule, every_time,"
                " state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting') RETURNING number"
            )
            (number,) = connection.execute(sql, row).fetchone()
            self._activity.append(connection, Draft("approval.ask", f"agent:{agent}", agent, session, "done", tool))
            return int(number)

        number = await self._database.write(job)
        self._tell()
        try:
            async with asyncio.timeout(seconds):
                await self._answered(number)
        except TimeoutError:
            pass  # an answer that was given at the last moment still counts
        finally:
            state, words = await asyncio.shield(self._database.write(lambda connection: _withdraw(connection, number)))
            self._events.publish(ApprovalsChanged())
        return Reply(_ANSWERS[state], words)

    async def _answered(self, number: int) -> None:
        async with aclosing(self._database.changes()) as changes:
            async for _ in changes:
                if await self._database.read(lambda connection: _state(connection, number)) != ("waiting", ""):
                    return


async def waiting_numbers(database: Database) -> frozenset[int]:
    """The numbers of all calls that nobody has answered or withdrawn yet, also those whose time is over."""
    sql = "SELECT number FROM approvals WHERE state = 'waiting'"
    return await database.read(lambda connection: frozenset(number for (number,) in connection.execute(sql)))


async def withdraw_overdue(database: Database, now: int) -> None:
    """Withdraw calls whose time is over, since whoever asked may have died.

    Args:
        database: Where they wait.
        now: Nanoseconds since 1970.
    """
    sql = "FROM approvals WHERE state = 'waiting' AND until <= ?"
    overdue = await database.read(lambda connection: connection.execute(f"SELECT number {sql}", (now,)).fetchall())
    if overdue:
        await database.write(lambda connection: [_withdraw(connection, number) for (number,) in overdue])


def _approval(row: Sequence[Any]) -> Approval:
    number, session, agent, tool, summary, reason, asked_at, until, rule, every_time = row
    return Approval(number, session, agent, tool, summary, reason, asked_at, until, rule, bool(every_time))


def _settle(
    connection: sqlite3.Connection, number: int, state: str, *, whole_session: bool = False, words: str = ""
) -> None:
    """Answer a question that still waits; what was asked is forgotten with that."""
    connection.execute(
        "UPDATE approvals SET state = ?, whole_session = ?, words = ?, summary = ''"
        " WHERE number = ? AND state = 'waiting'",
        (state, whole_session, words, number),
    )


def _withdraw(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    _settle(connection, number, "withdrawn")
    return _state(connection, number)


def _state(connection: sqlite3.Connection, number: int) -> tuple[str, str]:
    """How a question stands, and what was said; a session that was removed takes its questions along."""
    found = connection.execute("SELECT state, words FROM approvals WHERE number = ?", (number,)).fetchone()
    return ("refused", "") if found is None else (str(found[0]), str(found[1]))


def _shortened(text: str) -> str:
    return text if len(text) <= _SUMMARY else f"{text[: _SUMMARY - 1]}…"
