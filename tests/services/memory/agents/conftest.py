"""Agents that remember, over every back-end, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from services.home import BlockingCalls, Database, Home
from services.memory.agents import AgentMemory, Backend, Owner
from services.memory.screening import Screening
from tests.services.memory.agents.backends import make_backend
from tests.services.memory.conftest import Clock
from tests.support.postgres import PostgresServer, postgres_server

KEEPING = ("sqlite", "markdown", "postgres", "qdrant", "lucid")
ALL = (*KEEPING, "none")

AgentOf = Callable[..., AgentMemory]


@pytest.fixture(params=KEEPING)
def kind(request: pytest.FixtureRequest) -> str:
    """The back-end's name; a test that names others parametrizes it."""
    return str(request.param)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server that all tests of a process share; each has a home, and so agents, of its own."""
    with postgres_server() as server:
        yield server


@pytest.fixture
async def backend(
    request: pytest.FixtureRequest, kind: str, home: Home, database: Database, calls: BlockingCalls, clock: Clock
) -> AsyncIterator[Backend]:
    env = {"MEMORY_URL": request.getfixturevalue("postgres").url} if kind == "postgres" else {}
    backend = make_backend(kind, home, database, calls, clock, env)
    yield backend
    await backend.close()


@pytest.fixture
def owner(tmp_path: Path) -> Callable[[str], Owner]:
    def make(alias: str) -> Owner:
        workspace = tmp_path / "workspaces" / alias
        workspace.mkdir(parents=True, exist_ok=True)
        return Owner(alias, workspace)

    return make


@pytest.fixture
def agent(backend: Backend, owner: Callable[[str], Owner], calls: BlockingCalls) -> AgentOf:
    """An agent by its alias, with the siblings it may read and its screening."""

    def make(alias: str, *granted: str, screening: Screening | None = None) -> AgentMemory:
        return AgentMemory(owner(alias), [owner(name) for name in granted], backend, screening or Screening(), calls)

    return make
