"""A memory on a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from services.home import BlockingCalls, Database, Home
from services.memory import Memory, Namespace, Scope

SECOND = 1_000_000_000


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000 * SECOND

    def __call__(self) -> int:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


Keys = Callable[[str], Namespace]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def calls() -> Iterator[BlockingCalls]:
    calls = BlockingCalls()
    yield calls
    calls.close()


@pytest.fixture
async def database(home: Home) -> AsyncIterator[Database]:
    async with Database(home.database_file) as database:
        yield database


@pytest.fixture
async def memory(home: Home, database: Database, calls: BlockingCalls, clock: Clock) -> AsyncIterator[Memory]:
    memory = Memory(home, database, calls, clock)
    yield memory
    await memory.close()


@pytest.fixture
def of(memory: Memory) -> Keys:
    """The keys of a scope written as `user:42`."""
    return lambda text: memory.namespace(Scope.parse(text))


@pytest.fixture
def keys(of: Keys) -> Namespace:
    """The keys of a user, which never expire by themselves."""
    return of("user:42")


@pytest.fixture
def brief(of: Keys) -> Namespace:
    """The keys of a context, which live 30 minutes."""
    return of("context:7")
