"""Agents that remember, over every back-end, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from services.home import BlockingCalls, Database, Home
from services.memory.agents import AgentMemory, Backend, MarkdownBackend, NoBackend, Owner, SqliteBackend, new_id
from services.memory.screening import Screening
from tests.services.memory.conftest import Clock

KEEPING = ("sqlite", "markdown")
ALL = (*KEEPING, "none")

AgentOf = Callable[..., AgentMemory]


@pytest.fixture(params=KEEPING)
def kind(request: pytest.FixtureRequest) -> str:
    """The back-end's name; a test that names others parametrizes it."""
    return str(request.param)


def make_backend(kind: str, home: Home, database: Database, calls: BlockingCalls, now: Callable[[], int]) -> Backend:
    """Build a back-end by its name."""
    if kind == "sqlite":
        return SqliteBackend(database, now, new_id)
    if kind == "markdown":
        return MarkdownBackend(home, calls, now, new_id)
    return NoBackend(now, new_id)


@pytest.fixture
def backend(kind: str, home: Home, database: Database, calls: BlockingCalls, clock: Clock) -> Backend:
    return make_backend(kind, home, database, calls, clock)


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
