"""Every back-end of a home, by name; none is connected to before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from services.agents import SharedMemory
from services.home import BlockingCalls, Database, Home
from services.memory.agents.backend import Backend
from services.memory.agents.lucid import LucidBackend
from services.memory.agents.markdown import MarkdownBackend
from services.memory.agents.nothing import NoBackend
from services.memory.agents.postgres import PostgresBackend
from services.memory.agents.qdrant import QdrantBackend
from services.memory.agents.sqlite import SqliteBackend


def make_backends(
    home: Home,
    shared: Callable[[], SharedMemory],
    database: Database,
    calls: BlockingCalls,
    env: Mapping[str, str],
    now: Callable[[], int],
    make_id: Callable[[], str],
    has_embedder: Callable[[str], bool],
) -> Mapping[str, Backend]:
    """Build all back-ends.

    Args:
        home: Whose.
        shared: Says where the servers are; asked for every operation, since `pinfold.toml` may change.
        database: The home's.
        calls: Threads.
        env: Where addresses, keys and programs are found.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids of agents and rows: 32 hex digits.
        has_embedder: Tells by its alias whether an agent's rows are to get vectors.
    """
    made: tuple[Backend, ...] = (
        SqliteBackend(database, now, make_id, has_embedder),
        MarkdownBackend(home, calls, now, make_id),
        PostgresBackend(home, lambda: shared().postgres, env, calls, now, make_id),
        QdrantBackend(home, lambda: shared().qdrant, env, calls, now, make_id),
        LucidBackend(home, lambda: shared().lucid, env, now, make_id),
        NoBackend(now, make_id),
    )
    return {backend.name: backend for backend in made}
