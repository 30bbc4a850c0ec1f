"""What only the points of a Qdrant collection promise. What a server says over HTTP is replayed by one of our own."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from qdrant_client import AsyncQdrantClient

from services.agents import QdrantStore
from services.errors import MemoryRefused, MemoryUnavailable
from services.home import BlockingCalls, Home
from services.memory.agents import Draft, Owner, Query, new_id
from services.memory.agents.qdrant import QdrantBackend
from services.memory.screening import Screened
from tests.services.memory.agents.backends import in_this_process
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock

on_the_server = pytest.mark.parametrize("kind", ["qdrant"], indirect=True)


def me(home: Home) -> Owner:
    return Owner("reviewer", home.root)


@asynccontextmanager
async def answering(status: int, reason: str) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers every request alike; gives its address and the heads of the requests."""
    heads: list[str] = []
    body = json.dumps({"status": {"error": reason}, "time": 0.0}).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (401, "Unauthorized", r"the server refuses the key. Look at api_key_env in \[memory.qdrant\]"),
        (403, "Forbidden", "the server refuses the key"),
        (500, "Internal Server Error", "the server answers 500 Internal Server Error"),
    ],
    ids=["no key", "another key", "a fault"],
)
async def test_what_a_server_refuses_is_said_without_its_key(
    home: Home, calls: BlockingCalls, clock: Clock, status: int, reason: str, words: str
) -> None:
    async with answering(status, reason) as (url, heads):
        store = QdrantStore(url=url, api_key_env="KEY")
        backend = QdrantBackend(home, lambda: store, {"KEY": "hidden-key"}, calls, clock, new_id)
        with pytest.raises(MemoryUnavailable, match=words) as raised:
            await backend.get(me(home), "k")
        assert "hidden-key" not in str(raised.value)
        found = await backend.status()
        assert (found.usable, found.detail) == (False, url)
        await backend.close()
    assert "api-key: hidden-key" in heads[0]


async def test_a_key_that_is_not_there_is_named(home: Home, calls: BlockingCalls, clock: Clock) -> None:
    store = QdrantStore(url="http://127.0.0.1:1", api_key_env="QDRANT_KEY")
    backend = QdrantBackend(home, lambda: store, {}, calls, clock, new_id)
    with pytest.raises(MemoryUnavailable, match=r"\$QDRANT_KEY is not set"):
        await backend.get(me(home), "k")


async def test_without_its_client_it_says_what_to_install(
    home: Home, calls: BlockingCalls, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    backend = QdrantBackend(home, QdrantStore, {}, calls, clock, new_id)
    with pytest.raises(MemoryUnavailable, match=r"qdrant-client is not installed. Install pinfold\[qdrant\]"):
        await backend.get(me(home), "k")


async def test_agents_of_two_homes_on_one_server_know_nothing_of_each_other(
    home: Home, calls: BlockingCalls, clock: Clock
) -> None:
    client = in_this_process(QdrantStore(), "")
    homes = (home, Home(home.root.parent / "other"))
    mine, other = (QdrantBackend(one, QdrantStore, {}, calls, clock, new_id, lambda *_: client) for one in homes)
    await mine.store(me(home), Draft(key="k", content="a fact"), Screened("a fact"))
    assert await other.get(me(home), "k") is None
    assert await other.recall([me(home)], Query("fact")) == []
    assert await other.purge(me(home)) == 0
    assert await mine.get(me(home), "k") is not None
    await mine.close()


async def test_points_that_are_none_of_pinfolds_are_an_error_that_says_so(
    home: Home, calls: BlockingCalls, clock: Clock
) -> None:
    client: AsyncQdrantClient = in_this_process(QdrantStore(), "")
    backend = QdrantBackend(home, QdrantStore, {}, calls, clock, new_id, lambda *_: client)
    await backend.store(me(home), Draft(key="k", content="x"), Screened("x"))
    (point,) = (await client.scroll("pinfold"))[0]
    await client.set_payload("pinfold", {"created_at": "yesterday"}, points=[point.id])
    with pytest.raises(MemoryUnavailable, match="a point of the collection is none of Pinfold's"):
        await backend.get(me(home), "k")
    await backend.close()


@on_the_server
async def test_many_at_once_store_a_key_once(agent: AgentOf) -> None:
    await asyncio.gather(*(agent("reviewer").store(Draft(key=str(number % 5), content="x")) for number in range(15)))
    assert await agent("reviewer").count() == 5


@on_the_server
async def test_an_agent_is_renamed_but_not_to_one_that_has_rows(agent: AgentOf) -> None:
    me, other = agent("old"), agent("taken")
    await me.store(Draft(key="k", content="mine"))
    await other.store(Draft(key="k", content="theirs"))
    with pytest.raises(MemoryRefused, match="has memories of its own"):
        await me.rename("taken")
    for _ in range(2):
        await me.rename("new")
    assert [(row.agent, row.agent_id, row.content) for row in await agent("new").listed()] == [("new", "new", "mine")]
