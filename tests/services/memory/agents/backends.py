"""Back-ends by name, each the real one as far as it can be had here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from services.agents import LucidStore, PostgresStore, QdrantStore
from services.home import BlockingCalls, Database, Home
from services.memory.agents import Backend, MarkdownBackend, NoBackend, SqliteBackend, new_id
from services.memory.agents.lucid import LucidBackend
from services.memory.agents.postgres import PostgresBackend
from services.memory.agents.qdrant import QdrantBackend

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient


def make_backend(
    kind: str,
    home: Home,
    database: Database,
    calls: BlockingCalls,
    now: Callable[[], int],
    env: Mapping[str, str] | None = None,
) -> Backend:
    """Build a back-end.

    Args:
        kind: Its name.
        home: Where its files and locks lie.
        database: The home's.
        calls: Threads.
        now: The clock, nanoseconds since 1970.
        env: Holds the address of the PostgreSQL server as `MEMORY_URL`.
    """
    match kind:
        case "sqlite":
            return SqliteBackend(database, now, new_id)
        case "markdown":
            return MarkdownBackend(home, calls, now, new_id)
        case "postgres":
            settings = PostgresStore(url_env="MEMORY_URL")
            return PostgresBackend(home, lambda: settings, env or {}, calls, now, new_id)
        case "qdrant":
            return QdrantBackend(home, QdrantStore, {}, calls, now, new_id, in_this_process)
        case "lucid":
            return LucidBackend(home, LucidStore, env or lucid_at(home.root.parent), now, new_id)
        case _:
            return NoBackend(now, new_id)


def in_this_process(_: QdrantStore, __: str) -> AsyncQdrantClient:
    """A client that is its own server: it does what a server would, and keeps nothing."""
    from qdrant_client import AsyncQdrantClient  # takes seconds, which processes that are killed do not have

    return AsyncQdrantClient(":memory:")


LUCID = """\
#!/bin/sh
# What lucid was seen to do: store and context take their text as one argument, context prints what it knows or nothing.
printf '%s\\n' "$@" >> "$LUCID_FOLDER/calls"
[ -e "$LUCID_FOLDER/$1" ] && exec /bin/sh "$LUCID_FOLDER/$1" "$@"
case "$1" in
    store) echo '{"success":true,"id":"mem_1"}' ;;
    context) [ -e "$LUCID_FOLDER/known" ] && cat "$LUCID_FOLDER/known" ;;
    version) echo 0.6.4 ;;
    *) exit 1 ;;
esac
exit 0
"""


def lucid_at(folder: Path) -> dict[str, str]:
    """Put a program there that replays what lucid does, and return the environment that finds it.

    It writes its arguments to `calls`, answers `context` with what is in `known`, and does what a script that is
    called as one of its verbs says.
    """
    programs = folder / "lucid"
    programs.mkdir(parents=True, exist_ok=True)
    (programs / "lucid").write_text(LUCID)
    (programs / "lucid").chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin", "LUCID_FOLDER": str(programs)}
