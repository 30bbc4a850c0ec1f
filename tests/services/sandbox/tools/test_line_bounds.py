"""Whatever comes to the socket of lines, without end or in crowds: it is refused or ended, and others go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from services.sandbox.tools.serving import lines
from tests.services.sandbox.tools.desk import Desk
from tests.services.sandbox.tools.raw import by_lines
from tests.services.sandbox.tools.serving import HELLO, call, greet, hear, say
from tests.support.sessions import eventually


@pytest.fixture
async def desk(served_desk: Desk) -> AsyncIterator[Desk]:
    """A desk that serves a good call after whatever was done to it."""
    yield served_desk
    await is_served(served_desk)


async def is_served(desk: Desk) -> None:
    async with by_lines(desk.pinfold) as good:
        await greet(good.reader, good.writer, await desk.token())
        await say(good.writer, call(1, "memory_count"))
        assert "result" in await hear(good.reader)


@pytest.mark.parametrize(
    "data",
    [b"x" * 1_000_000, b"\0" * 1_000_000, b"\n", b"\r\n\r\n", b" " * 600, "s1.é\n".encode(), b"\xff" * 600],
    ids=["no end", "nul", "empty", "blank", "spaces", "not ascii", "no text"],
)
async def test_what_is_no_token_is_void_and_ends_the_connection(desk: Desk, data: bytes) -> None:
    async with by_lines(desk.pinfold) as connection:
        await connection.say(data)
        assert await connection.rest() in (
            b"",  # lost to a client that goes on sending
            b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message":'
            b' "the token is void: its session has ended, or it is of another home"}}\n',
        )


@pytest.mark.parametrize("drops", [[b""], [b"s1."], [b"x"] * 100], ids=["silent", "half a token", "drop by drop"])
async def test_a_token_that_does_not_arrive_is_waited_for_no_longer(
    desk: Desk, drops: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "TOKEN_SECONDS", 0.4)
    async with by_lines(desk.pinfold) as connection:

        async def drip() -> None:
            for drop in drops:
                await connection.say(drop)
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        assert await connection.rest() == b""
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_the_oldest_that_gave_no_token_makes_room_and_who_did_stays(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "STRANGERS", 4)
    async with AsyncExitStack() as stack:
        known = await stack.enter_async_context(by_lines(desk.pinfold))
        await greet(known.reader, known.writer, await desk.token())
        crowd = [await stack.enter_async_context(by_lines(desk.pinfold)) for _ in range(30)]
        assert await crowd[0].rest() == b""
        await is_served(desk)
        await say(known.writer, call(1, "memory_count"))
        assert "result" in await hear(known.reader)


async def test_a_session_has_so_many_connections_and_others_are_not_kept_out(desk: Desk) -> None:
    token = await desk.token()
    async with AsyncExitStack() as stack:
        for _ in range(16):
            connection = await stack.enter_async_context(by_lines(desk.pinfold))
            await greet(connection.reader, connection.writer, token)
        one_more = await stack.enter_async_context(by_lines(desk.pinfold))
        await one_more.say(token.reveal().encode() + b"\n")
        assert (await hear(one_more.reader))["error"] == {
            "code": -32002,
            "message": "the connection is refused: this session has too many at once",
        }
        assert await one_more.rest() == b""
        await is_served(desk)

    async def is_let_in() -> bool:
        async with by_lines(desk.pinfold) as again:
            await again.say(token.reveal().encode() + b"\n")
            await say(again.writer, HELLO)
            return "result" in await hear(again.reader)

    await eventually(is_let_in)


async def test_wrong_tokens_are_answered_at_a_pace_and_good_ones_do_not_wait(desk: Desk) -> None:
    async with AsyncExitStack() as stack:
        guesses = [await stack.enter_async_context(by_lines(desk.pinfold)) for _ in range(60)]
        for number, guess in enumerate(guesses):
            await guess.say(f"s1.{number:043}\n".encode())
        answers = [asyncio.create_task(guess.rest()) for guess in guesses]
        await is_served(desk)
        assert not all(answer.done() for answer in answers)
        heard = await asyncio.gather(*answers)
    assert [b"-32001" in answer for answer in heard] == [True] * 60
