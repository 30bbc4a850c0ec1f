"""Whatever comes over HTTP, drop by drop, without end or in crowds: it is answered or ended, and others go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from services.sandbox.tools import Token
from services.sandbox.tools.serving import http_connection
from services.sandbox.tools.serving.seats import PAUSE
from tests.services.sandbox.tools.desk import Desk
from tests.services.sandbox.tools.raw import head, raw, request, status_of
from tests.support.sessions import eventually

MIB = 2**20
RESET = 0
"""The answer may be lost to a client that goes on sending."""


@pytest.fixture
async def desk(served_desk: Desk) -> AsyncIterator[Desk]:
    """A desk that serves a good call after whatever was done to it."""
    yield served_desk
    await is_served(served_desk)


async def is_served(desk: Desk) -> None:
    async with raw(desk.pinfold) as good:
        await good.say(request(await desk.token(), "memory_count", "Connection: close"))
        assert status_of(await good.rest()) == 200


def headed(*more: str, body: bytes = b"", **options: str) -> bytes:
    return head("{token}", *more, **options) + b"\r\n\r\n" + body


MALFORMED = {
    "long headers": (head("{token}", "X: " + "x" * 40_000), {400}),
    "headers without end": (head("{token}", "X: " + "x" * MIB), {400, RESET}),
    "a line without end": (b"x" * MIB, {400, RESET}),
    "many headers": (head("{token}", *(f"X-{number}: x" for number in range(10_000))), {400}),
    "length below 0": (headed("Content-Length: -1"), {400}),
    "length of letters": (headed("Content-Length: many"), {400}),
    "two lengths": (headed("Content-Length: 1", "Content-Length: 2", body=b"xx"), {400}),
    "length without end": (headed(f"Content-Length: {'9' * 400}"), {400}),
    "10 GB": (headed(f"Content-Length: {10 * 2**30}", "Connection: close"), {413}),
    "a chunk's size of letters": (headed("Transfer-Encoding: chunked", body=b"zz\r\n"), {400}),
    "a chunk's size without end": (headed("Transfer-Encoding: chunked", body=b"f" * 100_000), {400}),
    "3 MiB in chunks": (
        headed("Transfer-Encoding: chunked", "Connection: close", body=3 * (b"100000\r\n" + b" " * MIB + b"\r\n")),
        {413, RESET},
    ),
    "unknown coding": (headed("Transfer-Encoding: gzip"), {400, 501}),
    "no host": (b"POST /mcp HTTP/1.1\r\n\r\n", {400}),
    "two hosts": (headed("Host: evil.example"), {400}),
    "wrong host": (headed("Content-Length: 2", "Connection: close", body=b"{}", host="evil.example"), {421}),
    "wrong origin": (
        headed("Origin: http://evil.example", "Content-Length: 2", "Connection: close", body=b"{}"),
        {403},
    ),
    "HTTP/0.9": (b"GET /mcp\r\n\r\n", {400}),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 404}),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64, {400}),
    "nul": (b"\x00" * 100_000, {400}),
    "a stream": (headed("Connection: close", method="GET"), {405}),
    "a web socket": (
        headed("Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Key: x", method="GET"),
        {405},
    ),
    "a session's end": (headed("Connection: close", method="DELETE"), {405}),
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_what_is_malformed_is_refused_and_ends_the_connection(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_SECONDS", 5.0)
    data, statuses = MALFORMED[name]
    async with raw(desk.pinfold) as connection:
        await connection.say(data.replace(b"{token}", (await desk.token()).reveal().encode()))
        answer = await connection.rest()
    assert status_of(answer) in statuses, answer[:300]
    assert b"Traceback" not in answer


SLOW = {
    "silent": [b""],
    "half a line": [b"POST /m"],
    "half the headers": [head("{token}")],
    "no body": [headed("Content-Length: 100")],
    "half a body": [headed("Content-Length: 100", body=b"{")],
    "half a chunk": [headed("Transfer-Encoding: chunked", body=b"64\r\n{")],
    "drop by drop": [b"POST /mcp HTTP/1.1\r\n", *(b"X: y\r\n" for _ in range(200))],
    "a body drop by drop": [headed("Content-Length: 100000"), *(b" " for _ in range(200))],
    "a second request": [request("{token}"), b"", b"", b"P"],
}


@pytest.mark.parametrize("name", SLOW)
async def test_a_request_that_does_not_arrive_is_waited_for_no_longer(
    desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "REQUEST_SECONDS", 0.3)
    token = (await desk.token()).reveal().encode()
    async with raw(desk.pinfold) as connection:

        async def drip() -> None:
            for piece in SLOW[name]:
                await connection.say(piece.replace(b"{token}", token))
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        answer = await connection.rest()
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)
    assert b"HTTP/1.1 408" in answer
    assert b"the request was not whole within" in answer


async def test_a_client_that_reads_no_answer_is_let_go(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "ANSWER_SECONDS", 0.3)
    token = await desk.token("worker")
    value = "x" * (2 * MIB - 4096)
    async with raw(desk.pinfold) as connection:
        await connection.say(request(token, "namespace_set", "Connection: close", scope="chat", key="k", value=value))
        assert status_of(await connection.rest()) == 200
    async with raw(desk.pinfold) as connection:
        connection.reader._transport.pause_reading()  # type: ignore[attr-defined]
        await connection.say(request(token, "namespace_get", scope="chat", key="k"))
        await eventually(connection.is_cut)
        connection.reader._transport.resume_reading()  # type: ignore[attr-defined]
        assert len(await connection.rest()) < 2 * MIB


async def test_the_oldest_idle_connection_makes_room_for_a_new_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "CONNECTIONS", 8)
    async with AsyncExitStack() as stack:
        crowd = [await stack.enter_async_context(raw(desk.pinfold)) for _ in range(40)]
        await is_served(desk)
        assert await crowd[0].rest() == b""
        await crowd[-1].say(request(await desk.token(), "memory_count", "Connection: close"))
        assert status_of(await crowd[-1].rest()) == 200


async def test_wrong_tokens_are_answered_at_a_pace_and_good_ones_do_not_wait(desk: Desk) -> None:
    session = (await desk.token()).session
    async with AsyncExitStack() as stack:
        guesses = [await stack.enter_async_context(raw(desk.pinfold)) for _ in range(100)]
        loop = asyncio.get_running_loop()
        begun = loop.time()
        for number, guess in enumerate(guesses):
            await guess.say(request(Token(f"{session}.{number:043}")))
        answers = [asyncio.create_task(guess.rest()) for guess in guesses]
        await is_served(desk)
        assert not all(answer.done() for answer in answers)
        statuses = [status_of(answer) for answer in await asyncio.gather(*answers)]
        assert loop.time() - begun >= 64 * PAUSE
    assert statuses.count(401) >= 64
    assert statuses.count(401) + statuses.count(429) == 100
