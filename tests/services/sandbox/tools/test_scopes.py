"""A session reaches its own chat and context, and the user and team that its agent's file grants; either way in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from services.memory import Scope
from services.sandbox.tools import Grant, Token
from services.sandbox.tools.grants import grant_for
from tests.services.sandbox.tools.desk import Desk
from tests.services.sandbox.tools.serving import call, greet, hear, lines, over_http, say

Caller = Callable[..., Awaitable[tuple[bool, str]]]
"""Calls a tool on an open connection; whether it failed, and its text."""

GRANTED = '[memory]\nscopes = { user = "anna", team = "back:end" }\n'
FILE = '[agent]\nrisk_profile = "free"\n'


@asynccontextmanager
async def by_http(desk: Desk, token: Token) -> AsyncIterator[Caller]:
    async with over_http(desk.pinfold, token) as client:

        async def call_it(tool: str, **arguments: Any) -> tuple[bool, str]:
            result = await client.call_tool(tool, arguments)
            return result.is_error, getattr(result.content[0], "text", "")

        yield call_it


@asynccontextmanager
async def by_lines(desk: Desk, token: Token) -> AsyncIterator[Caller]:
    async with lines(desk.pinfold) as (reader, writer):
        await greet(reader, writer, token)

        async def call_it(tool: str, **arguments: Any) -> tuple[bool, str]:
            await say(writer, call(1, tool, **arguments))
            result = (await hear(reader))["result"]
            return result["isError"], result["content"][0]["text"]

        yield call_it


Way = Callable[[Desk, Token], AbstractAsyncContextManager[Caller]]
either_way = pytest.mark.parametrize("way", [by_http, by_lines], ids=["http", "stdio"])


@pytest.fixture
async def desk(served_desk: Desk) -> AsyncIterator[Desk]:
    """A desk whose agents' files a test may change."""
    yield served_desk
    await write(served_desk, "")


async def write(desk: Desk, rest: str, agent: str = "worker") -> None:
    desk.pinfold.home.agent_file(agent).write_text(f"{FILE}{rest}")
    await desk.pinfold.agents.load()


async def granted(desk: Desk, rest: str) -> Token:
    """The token of a new session of an agent with such a file."""
    await write(desk, rest)
    config = desk.pinfold.agents.get("worker").config
    assert config is not None
    session = (await desk.token()).session
    return await desk.pinfold.tools.tokens.issue(grant_for(session, "worker", config))


async def stored(desk: Desk, scope: str, key: str) -> object:
    return await desk.pinfold.memory.namespace(Scope.parse(scope)).get(key)


@either_way
async def test_a_session_never_reads_anothers_chat_or_context(desk: Desk, way: Way) -> None:
    mine, theirs = await granted(desk, GRANTED), await granted(desk, GRANTED)
    for scope in ("chat", "context"):
        key = f"{scope}-{theirs.session}"
        async with way(desk, theirs) as there:
            assert await there("namespace_set", scope=scope, key=key, value="private") == (False, "Stored.")
        async with way(desk, mine) as here:
            for asked in (key, f"{theirs.session}:{key}", f"{scope}:{theirs.session}:{key}", f"../{key}", "*"):
                assert json.loads((await here("namespace_get", scope=scope, key=asked))[1])["found"] is False
            keys = (await here("namespace_keys", scope=scope, pattern="*"))[1]
            assert "private" not in keys
            assert key not in keys
            failed, words = await here("namespace_get", scope=f"{scope}:{theirs.session}", key=key)
            assert failed
            assert "do not fit" in words


@either_way
async def test_after_its_end_a_session_reads_nothing_and_nobody_inherits(desk: Desk, way: Way) -> None:
    ended, later = await granted(desk, ""), await granted(desk, "")
    async with way(desk, ended) as there:
        await there("namespace_set", scope="chat", key="last", value="words")
        await desk.end(ended.session)
        try:
            failed, words = await there("namespace_get", scope="chat", key="last")
        except MCPError as error:
            failed, words = True, str(error)
        assert failed
        assert "words" not in words
    async with way(desk, later) as here:
        assert json.loads((await here("namespace_get", scope="chat", key="last"))[1])["found"] is False


@either_way
async def test_user_and_team_are_those_of_the_agents_file(desk: Desk, way: Way) -> None:
    async with way(desk, await granted(desk, GRANTED)) as here:
        for kind, scope in (("user", "user:anna"), ("team", "team:back:end")):
            assert await here("namespace_set", scope=kind, key="tone", value=kind) == (False, "Stored.")
            assert await stored(desk, scope, "tone") == kind


@either_way
@pytest.mark.parametrize("kind", ["user", "team"])
async def test_without_a_grant_no_user_or_team_is_reached(desk: Desk, way: Way, kind: str) -> None:
    async with way(desk, await granted(desk, "")) as here:
        failed, words = await here("namespace_set", scope=kind, key="k", value=1)
        assert failed
        assert words.startswith(f"the scope {kind} is out of reach")
        assert words.endswith("This session has: chat, context.")


@either_way
async def test_a_grant_taken_from_the_file_or_changed_in_it_is_void_at_once(desk: Desk, way: Way) -> None:
    async with way(desk, await granted(desk, GRANTED)) as here:
        await write(desk, '[memory]\nscopes = { user = "other" }\n')
        for kind in ("user", "team"):
            assert (await here("namespace_get", scope=kind, key="tone"))[0]


@either_way
async def test_a_grant_written_after_the_start_waits_for_the_next_session(desk: Desk, way: Way) -> None:
    async with way(desk, await granted(desk, "")) as here:
        await write(desk, GRANTED)
        assert (await here("namespace_get", scope="user", key="tone"))[0]


async def test_a_new_session_is_granted_what_its_agents_file_says_and_no_more(desk: Desk) -> None:
    text = (
        '[memory]\nread_memory_from = ["stranger"]\nscopes = { team = "back" }\n'
        '[workspace.access]\nstranger = "write_only"\n'
    )
    for rest, grant in (
        ("", Grant("s", "worker")),
        (text, Grant("s", "worker", ("stranger",), ("stranger",), ("chat", "context"), ("team:back",))),
    ):
        await write(desk, rest)
        config = desk.pinfold.agents.get("worker").config
        assert config is not None
        assert grant_for("s", "worker", config) == grant
