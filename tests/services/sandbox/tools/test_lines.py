"""Lines: a token first, then a message a line; what is none is answered or ends the connection, never the server."""

from __future__ import annotations

import asyncio

import pytest

from tests.services.sandbox.tools.desk import Desk
from tests.services.sandbox.tools.serving import call, greet, hear, lines, say


@pytest.fixture
def desk(served_desk: Desk) -> Desk:
    return served_desk


async def test_a_client_of_an_older_protocol_calls_tools(desk: Desk) -> None:
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, await desk.token())
        await say(writer, call(1, "memory_store", key="a", content="b\nc"))
        assert (await hear(reader))["result"]["content"][0]["text"] == "Stored a (core)."


@pytest.mark.parametrize("text", ["s1.wrong", "", "GET / HTTP/1.1", "\x00"], ids=["wrong", "none", "http", "nul"])
async def test_a_wrong_token_ends_the_connection_in_words(desk: Desk, text: str) -> None:
    await desk.token()
    async with lines(desk.pinfold) as (reader, writer):
        writer.write(text.encode() + b"\n")
        assert "void" in (await hear(reader))["error"]["message"]
        assert await reader.read() == b""


async def test_a_call_after_the_sessions_end_is_refused(desk: Desk) -> None:
    token = await desk.token()
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, token)
        await desk.end(token.session)
        await say(writer, call(1, "memory_store", key="too late", content="b"))
        result = (await hear(reader))["result"]
        assert result["isError"]
        assert "it has ended" in result["content"][0]["text"]
    assert await desk.pinfold.agent_memories.of("worker").get("too late") is None


@pytest.mark.parametrize(
    "line", [b"{", b"null", b"\xff\xff", b"[" * 50_000, b'{"jsonrpc":"2.0","id":{}}'],
    ids=["cut", "null", "no text", "nested", "no id"],
)  # fmt: skip
async def test_what_is_no_message_does_not_end_the_connection(desk: Desk, line: bytes) -> None:
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, await desk.token())
        writer.write(line + b"\n")
        await say(writer, call(7, "namespace_keys", scope="chat"))
        async with asyncio.timeout(30):
            while (answer := await hear(reader)).get("id") != 7:
                assert "error" in answer
        assert answer["result"]["structuredContent"] == {"keys": []}


async def test_a_line_without_an_end_ends_the_connection_and_not_the_server(desk: Desk) -> None:
    token = await desk.token()
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, token)

        async def flood() -> None:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()

        flooding = asyncio.ensure_future(flood())
        try:
            assert "2 MiB" in (await hear(reader))["error"]["message"]
        finally:
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, token)
