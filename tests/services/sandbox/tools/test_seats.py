"""A session has so many calls at once, over HTTP and by lines together; one more is refused in words, others go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from itertools import count, islice

import pytest

from services.home import Home
from services.sandbox.tools import Token
from services.sandbox.tools.serving.seats import Full, Seats
from tests.services.sandbox.tools.desk import Desk, DeskWorld
from tests.services.sandbox.tools.raw import Raw, by_lines, raw, request, status_of
from tests.services.sandbox.tools.serving import call, greet, hear, say, served

PATIENT = '\n[risk_profiles.patient]\nlevel = "supervised"\napproval_timeout = "10m"\n'
EACH = 32


@pytest.fixture
async def desk(home: Home) -> AsyncIterator[Desk]:
    """A desk with an agent whose calls wait for an operator."""
    world = DeskWorld(home)
    with home.config_file.open("a") as file:
        file.write(PATIENT)
    world.agent("waiting", profile="patient")
    async with world.pinfold(supervise=False) as pinfold, served(pinfold):
        yield Desk(pinfold)


async def calls_by_lines(connection: Raw, token: Token, count: int, first: int = 1) -> None:
    await greet(connection.reader, connection.writer, token)
    for number in range(first, first + count):
        await say(connection.writer, call(number, "memory_store", key="k", content="x"))


async def more_by_lines(connection: Raw, calls: int, numbers: Iterator[int]) -> None:
    for number in islice(numbers, calls):
        await say(connection.writer, call(number, "memory_store", key="k", content="x"))


async def waiting(desk: Desk, calls: int) -> None:
    """Until so many calls wait for an operator."""
    async with asyncio.timeout(30):
        while len(await desk.pinfold.approvals.waiting()) != calls:
            await asyncio.sleep(0.02)


async def fill(desk: Desk, call_more: Callable[[int], Awaitable[None]]) -> None:
    """Until a session has taken all its seats: that of a call that ended is given back a moment later."""
    async with asyncio.timeout(60):
        while free := EACH - len(await desk.pinfold.approvals.waiting()):
            await call_more(free)
            await asyncio.sleep(0.2)


async def test_one_call_too_many_is_refused_by_lines_and_over_http(desk: Desk) -> None:
    token = await desk.token("waiting")
    async with by_lines(desk.pinfold) as connection, raw(desk.pinfold) as http:
        await calls_by_lines(connection, token, EACH + 1)
        assert await hear(connection.reader) == {
            "jsonrpc": "2.0",
            "id": EACH + 1,
            "error": {"code": -32002, "message": "the call is refused: this session has too many at once"},
        }
        await waiting(desk, EACH)
        await http.say(request(token, "memory_count", "Connection: close"))
        answer = await http.rest()
        assert status_of(answer) == 429
        assert b"\r\nretry-after: 1\r\n" in answer
        assert answer.endswith(b'{"error": "the call is refused: this session has too many at once"}')
        async with raw(desk.pinfold) as other:
            await other.say(request(await desk.token(), "memory_count", "Connection: close"))
            assert status_of(await other.rest()) == 200


async def test_seats_are_given_back_where_a_call_ends_is_cancelled_or_its_client_goes(desk: Desk) -> None:
    token = await desk.token("waiting")
    async with by_lines(desk.pinfold) as connection:
        await calls_by_lines(connection, token, EACH)
        await waiting(desk, EACH)
        for number in (1, 2):
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            await say(connection.writer, cancelled)
        await waiting(desk, EACH - 2)
        first = (await desk.pinfold.approvals.waiting())[0]
        await desk.pinfold.approvals.answer(first.number, allow=True)
        while "result" not in await hear(connection.reader):
            continue
        later = count(100)
        await fill(desk, lambda free: more_by_lines(connection, free, later))
    await waiting(desk, 0)
    async with AsyncExitStack() as stack:

        async def more_over_http(free: int) -> None:
            for _ in range(free):
                connection = await stack.enter_async_context(raw(desk.pinfold))
                await connection.say(request(token, "memory_store", key="k", content="x"))

        await fill(desk, more_over_http)
    await waiting(desk, 0)
    async with by_lines(desk.pinfold) as connection:
        await greet(connection.reader, connection.writer, token)
        numbers = count(1)
        await fill(desk, lambda free: more_by_lines(connection, free, numbers))


async def test_an_id_that_is_being_answered_is_not_taken_again(desk: Desk) -> None:
    async with by_lines(desk.pinfold) as connection:
        await calls_by_lines(connection, await desk.token("waiting"), 1)
        await say(connection.writer, call(1, "memory_store", key="k", content="x"))
        answer = await hear(connection.reader)
        assert (answer["id"], answer["error"]["code"]) == (1, -32600)


def test_a_seat_is_refused_for_one_session_before_it_is_for_all() -> None:
    seats = Seats(each=1, together=2, always=0)
    with seats.taken("a") as a, seats.taken("a") as again, seats.taken("b") as b, seats.taken("c") as c:
        assert (a, again, b, c) == (None, Full.SESSION, None, Full.ALL)
    with seats.taken("c") as c, seats.taken("a") as a, seats.taken("b") as b:
        assert (c, a, b) == (None, None, Full.ALL)


def test_a_session_with_few_seats_is_refused_none_for_the_others_sake() -> None:
    seats = Seats(each=8, together=8, always=2)
    with ExitStack() as crowd:
        assert [crowd.enter_context(seats.taken("crowd")) for _ in range(8)] == [None] * 8
        assert [crowd.enter_context(seats.taken("late")) for _ in range(3)] == [None, None, Full.ALL]
