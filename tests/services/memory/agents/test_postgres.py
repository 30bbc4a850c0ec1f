"""What only the rows on a PostgreSQL server promise: a real server, its address told to nobody."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.agents import PostgresStore
from services.errors import MemoryRefused, MemoryUnavailable
from services.home import BlockingCalls, Home
from services.memory.agents import Backend, Draft, Owner, Query, new_id
from services.memory.agents.postgres import PostgresBackend
from services.memory.screening import Screened
from tests.services.memory.agents.conftest import AgentOf
from tests.services.memory.conftest import Clock
from tests.support.postgres import PASSWORD, QUOTED_PASSWORD, PostgresServer

on_the_server = pytest.mark.parametrize("kind", ["postgres"], indirect=True)

RAW_PASSWORD = "raw/pass#word"


@pytest.fixture
async def env(postgres: PostgresServer) -> dict[str, str]:
    return {"MEMORY_URL": postgres.url}


@pytest.fixture
async def server(home: Home, calls: BlockingCalls, clock: Clock, env: dict[str, str]) -> AsyncIterator[PostgresBackend]:
    settings = PostgresStore(url_env="MEMORY_URL")
    backend = PostgresBackend(home, lambda: settings, env, calls, clock, new_id)
    yield backend
    await backend.close()


def me(home: Home) -> Owner:
    return Owner("reviewer", home.root)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", r"\$MEMORY_URL is not set. Set it to postgresql://"),
        ("mysql://u:hidden@h/x", r"\$MEMORY_URL holds no address. Set it to postgresql://USER:PASSWORD"),
        (f"postgresql://u:{RAW_PASSWORD}@h/x", r"\$MEMORY_URL holds no address|no server answers|cannot use"),
        ("postgresql://u:hidden@127.0.0.1:1/x", r"Connect call failed|refused|no server answers.*Look whether"),
        ("postgresql://u:hidden@/x?host=/nowhere", r"No such file|no server answers.*Look whether"),
        ("wrong password", "password authentication failed for user"),
        ("no such database", 'database "nowhere" does not exist'),
    ],
    ids=["unset", "another scheme", "signs in the password", "nobody listens", "no socket", "password", "database"],
)
async def test_a_server_that_cannot_be_used_says_why_and_never_its_address(
    home: Home, server: PostgresBackend, postgres: PostgresServer, env: dict[str, str], url: str, words: str
) -> None:
    env["MEMORY_URL"] = {
        "wrong password": postgres.url.replace(QUOTED_PASSWORD, "hidden"),
        "no such database": postgres.url.replace("/postgres?", "/nowhere?"),
    }.get(url, url)
    with pytest.raises(MemoryUnavailable, match=words) as raised:
        await server.get(me(home), "k")
    told = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + repr(server)
    for hidden in ("hidden", RAW_PASSWORD, "pass#word", PASSWORD, QUOTED_PASSWORD):
        assert hidden not in told
    status = await server.status()
    assert not status.usable
    assert status.problem.startswith("cannot use the memory in postgres: ")


async def test_no_address_at_all_names_the_key(home: Home, calls: BlockingCalls, clock: Clock) -> None:
    backend = PostgresBackend(home, PostgresStore, {}, calls, clock, new_id)
    with pytest.raises(MemoryUnavailable, match=r"Set url_env in \[memory.postgres\]"):
        await backend.get(me(home), "k")


async def test_without_its_client_it_says_what_to_install(
    home: Home, server: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(MemoryUnavailable, match=r"asyncpg is not installed. Install pinfold\[postgres\]"):
        await server.get(me(home), "k")


async def test_it_says_what_it_is(server: PostgresBackend) -> None:
    status = await server.status()
    assert status.usable
    assert status.detail.startswith("PostgreSQL 1")


async def test_what_was_acknowledged_is_there_when_the_server_comes_back(
    home: Home, server: PostgresBackend, postgres: PostgresServer
) -> None:
    row = await server.store(me(home), Draft(key="k", content="x"), Screened("x"))
    postgres.stop()
    with pytest.raises(MemoryUnavailable):
        await server.store(me(home), Draft(key="k", content="y"), Screened("y"))
    postgres.start()
    assert await server.get(me(home), "k") == row


async def test_agents_of_two_homes_on_one_server_know_nothing_of_each_other(
    home: Home, server: PostgresBackend, postgres: PostgresServer, calls: BlockingCalls, clock: Clock
) -> None:
    settings = PostgresStore(url_env="MEMORY_URL")
    other = PostgresBackend(
        Home(home.root.parent / "other"), lambda: settings, {"MEMORY_URL": postgres.url}, calls, clock, new_id
    )
    await server.store(me(home), Draft(key="k", content="a fact"), Screened("a fact"))
    assert await other.get(me(home), "k") is None
    assert await other.recall([me(home)], Query("fact")) == []
    assert await other.purge(me(home)) == 0
    assert await server.get(me(home), "k") is not None
    await other.close()


@on_the_server
async def test_many_at_once_make_one_agent_and_lose_nothing(agent: AgentOf, backend: Backend) -> None:
    await asyncio.gather(*(agent("reviewer").store(Draft(key=str(number % 20), content="x")) for number in range(60)))
    rows = await agent("reviewer").listed()
    assert len(rows) == 20
    assert len({row.agent_id for row in rows}) == 1


@on_the_server
async def test_a_renamed_agent_keeps_its_rows_and_its_id(agent: AgentOf) -> None:
    me, other, renamed = agent("old"), agent("taken"), agent("new")
    row = await me.store(Draft(key="k", content="fact"))
    await other.store(Draft(key="k", content="theirs"))
    with pytest.raises(MemoryRefused, match="has memories of its own"):
        await me.rename("taken")
    for _ in range(2):
        await me.rename("new")
    assert await me.count() == 0
    (found,) = await renamed.recall(Query("fact"))
    assert (found.row.agent, found.row.agent_id, found.row.id) == ("new", row.agent_id, row.id)


@on_the_server
async def test_signs_that_the_server_cannot_keep_are_kept(agent: AgentOf) -> None:
    me = agent("reviewer")
    text = "a\0b\x01c\x01\x03 \x01\x02\0"
    await me.store(Draft(key=text, content=text, session=text))
    (row,) = await me.listed()
    assert (row.key, row.content, row.session) == (text, text, text)
    assert await me.forget_session(text) == 1


async def test_tables_of_a_newer_pinfold_are_left_alone(
    home: Home, server: PostgresBackend, postgres: PostgresServer, calls: BlockingCalls, clock: Clock
) -> None:
    assert (await server.status()).usable
    connection = await asyncpg.connect(postgres.url)
    await connection.execute("UPDATE pinfold.version SET number = 99")
    newer = PostgresBackend(
        home, lambda: PostgresStore(url_env="MEMORY_URL"), {"MEMORY_URL": postgres.url}, calls, clock, new_id
    )
    try:
        with pytest.raises(MemoryUnavailable, match="its tables have version 99, this Pinfold knows 1"):
            await newer.get(me(home), "k")
    finally:
        await connection.execute("UPDATE pinfold.version SET number = 1")
        await connection.close()
        await newer.close()
