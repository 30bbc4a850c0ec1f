"""A home whose agent `reviewer` has an embedder that runs beside the tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from services.home import Home
from services.memory import Query
from services.pinfold import Pinfold
from tests.support.embedder import EmbedderServer, embedder_server

KEY = "sk-" + "e1" * 20
SHARED = """
[risk_profiles.free]

[connectors.near]
kind = "openai"
base_url = "{url}"
model = "{model}"
api_key_env = "EMBED_KEY"
"""
AGENT = '[agent]\nrisk_profile = "free"\n'
VECTORS = '[memory.vectors]\nembedder = "near"\n'


class House:
    """A home, opened anew for each block, as by several processes one after the other."""

    def __init__(self, home: Home, server: EmbedderServer) -> None:
        self.home = home
        self.server = server
        self.env = {"EMBED_KEY": KEY}
        self.set_shared()

    def set_shared(self, model: str = "small", url: str = "") -> None:
        self.home.root.mkdir(parents=True, exist_ok=True)
        self.home.config_file.write_text(SHARED.format(url=url or self.server.url, model=model))

    def put(self, alias: str, text: str = VECTORS) -> None:
        file = self.home.agent_file(alias)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(AGENT + text)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Pinfold]:
        async with Pinfold.open(self.home, supervise=False, env=self.env, engines={}) as pinfold:
            yield pinfold


@pytest.fixture
def server() -> Iterator[EmbedderServer]:
    with embedder_server() as server:
        yield server


@pytest.fixture
def house(home: Home, server: EmbedderServer) -> House:
    house = House(home, server)
    house.put("reviewer")
    return house


async def count(pinfold: Pinfold, table: str) -> int:
    sql = f"SELECT count(*) FROM {table}"
    return int((await pinfold.database.read(lambda c: c.execute(sql).fetchone()))[0])


async def embedded(pinfold: Pinfold, vectors: int) -> None:
    """Wait until so many memories have their vectors and none is due."""
    async with asyncio.timeout(20):
        while await count(pinfold, "memory_vectors") != vectors or await count(pinfold, "memory_vectors_due"):
            await asyncio.sleep(0.01)


async def recalled(pinfold: Pinfold, text: str, alias: str = "reviewer", **more: object) -> list[str]:
    """The keys an agent recalls, after what was stored has its vectors."""
    found = await pinfold.agent_memories.of(alias).recall(Query(text, **more))  # type: ignore[arg-type]
    return [one.row.key for one in found]
