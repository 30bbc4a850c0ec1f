"""A home with an agent that has one of everything, and all of it as plain values, to compare two moments by."""

from __future__ import annotations

import hashlib
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

from services.home import Home
from services.memory import Block, Draft, Scope, ScopeKind, StepType
from services.pinfold import Pinfold
from tests.support.sessions import World, echo_lines, ran

AGENT = "reviewer"

LEAD = """
[workspace]
access = { reviewer = "read", writer = "read" }  # both, for reading
[memory]
read_memory_from = ["writer", "reviewer"]
[[agent.delegates]]
agent = "reviewer"  # finds what others miss
mode = "independent"
"""
DEFAULTS = '\n# for all\n[defaults.memory]\nread_memory_from = ["reviewer"]  # the one who knows\n'

Estate = dict[str, Any]


async def settle(world: World, *, sessions: bool = True, files: int = 6) -> None:
    """Write the agents `reviewer`, `writer` and `lead`, and give the first one of everything.

    Args:
        world: A home.
        sessions: Also run a session, which takes a moment.
        files: How many files its workspace has.
    """
    home = world.home
    for alias, rest in ((AGENT, '[permissions]\nallowed_roots = ["/srv"]'), ("writer", ""), ("lead", LEAD)):
        world.agent(alias, echo_lines(3), rest=rest)
    home.config_file.write_text(home.config_file.read_text() + DEFAULTS)
    workspace = home.default_workspace(AGENT)
    (workspace / "src").mkdir()
    for number in range(files):
        (workspace / "src" / f"{number}.txt").write_text(f"line {number}\n" * 50)
    (workspace / "link").symlink_to("src/0.txt")
    (workspace / "empty").mkdir()
    async with world.pinfold(supervise=False) as pinfold:
        await _remember(pinfold)
        if sessions:
            session = await ran(pinfold, AGENT)
            await pinfold.memory.namespace(Scope(ScopeKind.CHAT, session.id)).set("found", [1, 2])


async def _remember(pinfold: Pinfold) -> None:
    memory = pinfold.agent_memories.of(AGENT)
    for number in range(5):
        await memory.store(Draft(key=f"key {number}", content=f"what was learned, {number}"))
    await memory.supersede("key 0", "key 1")
    await pinfold.agent_memories.of("writer").store(Draft(key="key 0", content="the writer's own"))
    own = await pinfold.core_memory.tenants.of_agent(AGENT)
    role = await pinfold.core_memory.tenants.of_role(own, AGENT, "planner")
    deeper = await pinfold.core_memory.tenants.of_role(role, f"{AGENT}/planner", "checker")
    await pinfold.core_memory.blocks(own).append(Block.PERSONA, "careful")
    await pinfold.core_memory.blocks(role).rethink(Block.HUMAN, "the caller", "at first")
    await pinfold.core_memory.archive(deeper).insert("put away")
    context = await pinfold.memory.contexts.open(agent=AGENT, chat="c1")
    await pinfold.memory.contexts.begin(context.id, StepType.TOOL)
    await pinfold.memory.contexts.release(context.id, "failed", "it stopped")


def estate(home: Home) -> Estate:
    """All that the agents of a home have, each by alias, and nothing that changes without being asked for."""
    with closing(sqlite3.connect(home.database_file)) as connection:
        return {
            "files": _files(home.agents_dir),
            "shared": home.config_file.read_text(),
            "memories": _memories(connection),
            "core memory": _core(connection),
            "contexts": _rows(connection, "SELECT id, agent FROM contexts"),
            "keys": _rows(connection, "SELECT scope, id, key, value, length FROM scoped_values"),
            "sessions": _rows(connection, "SELECT id, agent, state, exit_code FROM sessions"),
            "steps": _rows(connection, "SELECT session, number, name, state FROM steps"),
            "output": _files(home.sessions_dir, lambda path: "/output/" in path and not path.endswith(".lock")),
        }


def under(alias: str, found: Estate) -> Estate:
    """The same with the agent called otherwise."""
    return {key: _replaced(value, AGENT, alias) for key, value in found.items()}


def _replaced(value: Any, old: str, new: str) -> Any:
    match value:
        case str():
            return value.replace(old, new)
        case dict():
            return {_replaced(key, old, new): _replaced(item, old, new) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_replaced(item, old, new) for item in value)
    return value


def _files(top: Path, wanted: Any = lambda path: True) -> dict[str, tuple[str, int, str]]:
    """Kind, mode and content of everything below a folder; small text as it is, so that a difference can be read."""
    found: dict[str, tuple[str, int, str]] = {}
    for path in top.rglob("*") if top.is_dir() else []:
        name, facts = str(path.relative_to(top)), path.lstat()
        if not wanted(name):
            continue
        if stat.S_ISLNK(facts.st_mode):
            found[name] = ("link", 0, str(path.readlink()))
        elif stat.S_ISDIR(facts.st_mode):
            found[name] = ("folder", 0, "")
        else:
            data = path.read_bytes()
            found[name] = ("file", stat.S_IMODE(facts.st_mode), hashlib.sha256(data).hexdigest())
            if name.endswith(".toml"):
                found[name] = ("file", 0, data.decode())  # its mode is Pinfold's to choose
    return found


def _memories(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    sql = (
        "SELECT a.alias, a.id, m.id, m.key, m.content, m.category, m.importance, m.pinned, m.superseded_by, m.withheld,"
        " m.created_at, m.updated_at FROM memories AS m JOIN agents AS a ON a.id = m.agent"
    )
    return _rows(connection, sql)


def _core(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """What tenants have, each named by its caller and role, since a role's number follows from its caller's name."""
    whose = "t.agent, t.role"
    return [
        *_rows(
            connection, f"SELECT {whose}, block, content FROM core_blocks AS b JOIN tenants AS t ON t.id = b.tenant"
        ),
        *_rows(connection, f"SELECT {whose}, entry, at FROM block_history AS b JOIN tenants AS t ON t.id = b.tenant"),
        *_rows(
            connection, f"SELECT {whose}, e.id, content FROM archive_entries AS e JOIN tenants AS t ON t.id = e.tenant"
        ),
    ]


def _rows(connection: sqlite3.Connection, sql: str) -> list[tuple[Any, ...]]:
    return sorted(connection.execute(sql).fetchall(), key=repr)
