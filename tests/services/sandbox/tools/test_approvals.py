"""A call that needs an operator's word waits for it, whichever process the operator is in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from services.activity import ActivityLog, Events
from services.errors import SessionRefused
from services.home import Database, Home
from services.sandbox.model import SessionState
from services.sandbox.store import SessionStore
from services.sandbox.tools import Answer, Approval, Approvals, Reply
from services.sandbox.tools.approvals import waiting_numbers, withdraw_overdue
from services.sandbox.transitions import lost
from tests.services.sandbox.clock import Clock
from tests.services.sandbox.records import recorded

Ask = Callable[..., Awaitable[Reply]]


@pytest.fixture
def approvals(database: Database, activity: ActivityLog, events: Events, clock: Clock) -> Approvals:
    return Approvals(database, activity, events, clock)


@pytest.fixture
async def ask(approvals: Approvals, store: SessionStore) -> Ask:
    await recorded(store, state=SessionState.RUNNING, sandbox="c1", started_at=1)

    def asked(tool: str = "memory_store", seconds: float = 30.0, summary: str = "key=a") -> Awaitable[Reply]:
        return approvals.ask("s1", "worker", tool, summary=summary, reason="no list approves it", seconds=seconds)

    return asked


async def waiting(approvals: Approvals) -> Approval:
    async with asyncio.timeout(10):
        while not (found := await approvals.waiting()):
            await asyncio.sleep(0.01)
    return found[0]


@pytest.mark.parametrize(("allow", "answer"), [(True, Answer.ALLOWED), (False, Answer.REFUSED)], ids=["yes", "no"])
async def test_the_operators_word_reaches_who_waits(
    approvals: Approvals, ask: Ask, allow: bool, answer: Answer
) -> None:
    asking = asyncio.ensure_future(ask())
    found = await waiting(approvals)
    assert (found.agent, found.tool, found.summary, found.reason) == (
        "worker", "memory_store", "key=a", "no list approves it",
    )  # fmt: skip
    await approvals.answer(found.number, allow=allow)
    assert (await asking).answer is answer
    assert await approvals.waiting() == []


async def test_a_word_from_another_process_counts(
    ask: Ask, approvals: Approvals, home: Home, events: Events, clock: Clock
) -> None:
    asking = asyncio.ensure_future(ask())
    found = await waiting(approvals)
    async with Database(home.database_file) as other:
        log = ActivityLog(other, events, clock)
        await Approvals(other, log, events, clock).answer(found.number, allow=True)
        assert (await asking).answer is Answer.ALLOWED


async def test_why_an_operator_refused_reaches_who_waits_and_the_activity(
    approvals: Approvals, ask: Ask, activity: ActivityLog
) -> None:
    asking = asyncio.ensure_future(ask())
    await approvals.answer((await waiting(approvals)).number, allow=False, words="ask the owner first")
    assert await asking == Reply(Answer.REFUSED, "ask the owner first")
    assert (await activity.recent(1))[0].detail == "memory_store: ask the owner first"


async def test_what_a_dead_asker_left_is_withdrawn_once_its_time_is_over(
    approvals: Approvals, ask: Ask, database: Database, clock: Clock
) -> None:
    asking = asyncio.ensure_future(ask())
    number = (await waiting(approvals)).number
    await withdraw_overdue(database, clock())
    assert await waiting_numbers(database) == {number}
    clock.advance(31)
    await withdraw_overdue(database, clock())
    assert await waiting_numbers(database) == frozenset()
    assert (await asking).answer is Answer.TIMED_OUT


async def test_nobodys_word_in_time_is_a_refusal(approvals: Approvals, ask: Ask) -> None:
    assert (await ask(seconds=0.05)).answer is Answer.TIMED_OUT
    assert await approvals.waiting() == []


async def test_who_goes_away_withdraws_the_question(approvals: Approvals, ask: Ask) -> None:
    asking = asyncio.ensure_future(ask())
    number = (await waiting(approvals)).number
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    async with asyncio.timeout(10):
        while await approvals.waiting():
            await asyncio.sleep(0.01)
    with pytest.raises(SessionRefused, match="cannot be answered"):
        await approvals.answer(number, allow=True)


async def test_the_end_of_a_session_withdraws_its_questions(
    approvals: Approvals, ask: Ask, store: SessionStore
) -> None:
    asking = asyncio.ensure_future(ask())
    number = (await waiting(approvals)).number
    await store.change("s1", lost(1, "gone"))
    assert (await asking).answer is Answer.TIMED_OUT
    with pytest.raises(SessionRefused):
        await approvals.answer(number, allow=True)


async def test_a_question_whose_time_is_over_is_neither_shown_nor_answered(
    approvals: Approvals, ask: Ask, clock: Clock
) -> None:
    asking = asyncio.ensure_future(ask())
    number = (await waiting(approvals)).number
    clock.advance(31)
    assert await approvals.waiting() == []
    with pytest.raises(SessionRefused):
        await approvals.answer(number, allow=True)
    asking.cancel()


async def test_a_tool_allowed_for_the_session_is_remembered_for_it_alone(approvals: Approvals, ask: Ask) -> None:
    asking = asyncio.ensure_future(ask())
    await approvals.answer((await waiting(approvals)).number, allow=True, whole_session=True)
    await asking
    assert await approvals.allowed_before("s1", "memory_store")
    assert not await approvals.allowed_before("s1", "memory_forget")
    assert not await approvals.allowed_before("s2", "memory_store")


async def test_what_was_asked_is_forgotten_once_it_is_answered(
    approvals: Approvals, ask: Ask, database: Database
) -> None:
    asking = asyncio.ensure_future(ask(summary="content=private"))
    await approvals.answer((await waiting(approvals)).number, allow=False)
    await asking
    rows = await database.read(lambda connection: connection.execute("SELECT summary FROM approvals").fetchall())
    assert rows == [("",)]


async def test_questions_and_answers_are_in_the_activity(approvals: Approvals, ask: Ask, activity: ActivityLog) -> None:
    asking = asyncio.ensure_future(ask(summary="content=private"))
    await approvals.answer((await waiting(approvals)).number, allow=True)
    await asking
    entries: list[Any] = [(each.actor, each.verb, each.detail) for each in await activity.recent(10)]
    assert entries[-2:] == [
        ("agent:worker", "approval.ask", "memory_store"), ("operator", "approval.allow", "memory_store"),
    ]  # fmt: skip
