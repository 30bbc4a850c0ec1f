"""HTTP: only with a good token, from no web page, in bounded pieces."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from services.errors import LockHeld
from services.sandbox.tools import Token
from tests.services.sandbox.tools.desk import Desk
from tests.services.sandbox.tools.serving import URL, over_http, web

DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def desk(served_desk: Desk) -> Desk:
    return served_desk


async def status_of(desk: Desk, token: Token | None, **request: Any) -> tuple[int, str]:
    async with web(desk.pinfold, token) as http:
        headers = {**ACCEPT, **request.pop("headers", {})}
        answer = await http.post(request.pop("url", URL), headers=headers, **(request or {"json": DISCOVER}))
        return answer.status_code, answer.text


@pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake", "without"])
async def test_the_sdks_client_lists_and_calls_tools(desk: Desk, mode: str) -> None:
    async with over_http(desk.pinfold, await desk.token(), mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_store", "core_memory_append", "namespace_set"} <= names
        assert "file_write" not in names
        stored = await client.call_tool("memory_store", {"key": "a", "content": "b"})
        assert not stored.is_error
        refused = await client.call_tool("memory_store", {"key": "a"})
        assert refused.is_error


async def test_a_good_token_is_let_in(desk: Desk) -> None:
    assert (await status_of(desk, await desk.token()))[0] == 200


async def test_without_a_token_nothing_is_answered_but_where_it_is(desk: Desk) -> None:
    status, text = await status_of(desk, None)
    assert status == 401
    assert "PINFOLD_TOKEN_FILE" in text


@pytest.mark.parametrize("text", ["s1.wrong", "s2.wrong", "x" * 5000], ids=["wrong", "foreign", "huge"])
async def test_a_wrong_token_is_void(desk: Desk, text: str) -> None:
    await desk.token()
    status, words = await status_of(desk, Token(text))
    assert status == 401
    assert json.loads(words)["error"]


async def test_a_token_is_void_once_its_session_has_ended(desk: Desk) -> None:
    token = await desk.token()
    await desk.end(token.session)
    assert await status_of(desk, token) == (
        401, '{"error": "the token is void: its session has ended, or it is of another home"}',
    )  # fmt: skip


async def test_a_client_whose_session_ends_is_let_in_no_more(desk: Desk) -> None:
    token = await desk.token()
    async with over_http(desk.pinfold, token) as client:
        assert not (await client.call_tool("memory_recall", {})).is_error
        await desk.end(token.session)
        with pytest.raises(MCPError):
            await client.call_tool("memory_recall", {})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:3129"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:3129"}, 200),
        ({"Content-Type": "text/plain"}, 400),
    ],
    ids=["host", "host with port", "host alike", "origin", "null", "origin alike", "own origin", "form"],
)
async def test_what_a_web_page_could_send_is_refused(desk: Desk, headers: dict[str, str], status: int) -> None:
    assert (await status_of(desk, await desk.token(), headers=headers, json=DISCOVER))[0] == status


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        (b"", {400}), (b"{", {400}), (b"[" * 100_000, {400}), (b"\xff\xfe", {400}), (b"null", {400}), (b"[]", {400}),
        (b'{"jsonrpc":"2.0"}', {400}), (b" " * (2 * 1024 * 1024 + 1), {413}),
    ],
    ids=["empty", "cut", "nested", "no text", "null", "list", "no request", "huge"],
)  # fmt: skip
async def test_what_is_no_request_is_refused(desk: Desk, content: bytes, statuses: set[int]) -> None:
    headers = {"Content-Type": "application/json"}
    status, text = await status_of(desk, await desk.token(), content=content, headers=headers)
    assert status in statuses
    assert "Traceback" not in text


async def test_what_clients_send_is_written_to_no_log(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    await status_of(desk, await desk.token(), headers={"Host": "quoted.example"}, json=DISCOVER)
    await status_of(desk, await desk.token(), content=b"quoted", headers={"Content-Type": "application/json"})
    assert "quoted" not in caplog.text


async def test_elsewhere_is_nothing(desk: Desk) -> None:
    assert (await status_of(desk, await desk.token(), url="http://127.0.0.1:3129/", json=DISCOVER))[0] == 404


async def test_two_agents_at_once_never_see_each_others_memories(desk: Desk) -> None:
    mine, theirs = await desk.token(), await desk.token("stranger")

    async def store(token: Token, text: str) -> None:
        async with over_http(desk.pinfold, token) as client:
            for number in range(5):
                await client.call_tool("memory_store", {"key": f"k{number}", "content": text, "category": "raced"})
                found = await client.call_tool("memory_list", {"category": "raced"})
                assert {row["content"] for row in (found.structured_content or {}).get("memories", [])} <= {text}

    await asyncio.gather(store(mine, "mine"), store(theirs, "theirs"))


async def test_a_second_server_of_the_home_is_refused(desk: Desk) -> None:
    with pytest.raises(LockHeld, match="the tool server runs already"):
        await desk.pinfold.tools.serve()
