"""Every place that names an agent, and everything that is an agent's: one list for plans, checks and screens."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.agents import (
    Agents,
    Mention,
    MentionKind,
    dotted,
    line_finder,
    mentions_in_agent,
    mentions_in_shared,
    table_in,
)
from services.errors import ConfigError, PinfoldError
from services.home import Home, read_file
from services.memory import contexts_of, fingerprint, is_moving, tenants_with_content
from services.operations.model import Reference
from services.sandbox import Session

_WORDS: dict[MentionKind, str] = {
    "delegate": "hands work to it",
    "access": "may reach its workspace",
    "read_memory_from": "reads its memory",
    "path": "names a path in its directory",
    "workspace": "works in its directory",
}
_LIMIT = 1024 * 1024


@dataclass(frozen=True)
class TomlFile:
    """A TOML file of the home as it is now.

    Attributes:
        owner: The alias whose file it is; "" for `pinfold.toml`.
        data: Its bytes; empty when it is missing or cannot be read.
        mentions: What it names; none when it is not usable.
        problem: Why it is not; "" when it is.
    """

    owner: str
    path: Path
    data: bytes
    mentions: tuple[Mention, ...]
    problem: str = ""


@dataclass(frozen=True)
class Owned:
    """What the database has of an agent.

    Attributes:
        memories: Rows in SQLite, superseded ones too.
        tenants: Those that hold core memory.
        contexts: Ids, newest first.
        open_contexts: How many of them are being worked in.
        moving: Its memory is on its way to another back-end.
    """

    memories: int
    tenants: int
    contexts: tuple[str, ...]
    open_contexts: int
    moving: bool = False


def read_files(home: Home, agents: Agents) -> tuple[TomlFile, ...]:
    """Read `pinfold.toml` and every `agent.toml` as they are on disk now; blocks."""
    found = [_read_file("", home.config_file)] if os.path.lexists(home.config_file) else []
    found += [_read_file(agent.alias, agent.file) for agent in agents.all()]
    return tuple(found)


def read_owned(connection: sqlite3.Connection, alias: str) -> Owned:
    """Look up what the database has of an agent."""
    contexts = contexts_of(connection, alias)
    return Owned(
        fingerprint(connection, alias).count,
        len(tenants_with_content(connection, alias)),
        tuple(context.id for context in contexts),
        sum(context.open for context in contexts),
        is_moving(connection, alias),
    )


def references_to(
    alias: str, home: Home, agents: Agents, files: tuple[TomlFile, ...], sessions: list[Session], owned: Owned
) -> tuple[Reference, ...]:
    """List every place that names an agent, the hard ones first, then by owner.

    Args:
        alias: The agent.
        home: Where its directory is.
        agents: All agents, for where they work.
        files: All TOML files as they are.
        sessions: All sessions.
        owned: What the database has of it.
    """
    found = [
        *_in_files(alias, home, agents, files),
        *_unreadable(alias, files),
        *_in_sessions(alias, sessions),
        *_in_database(alias, owned),
    ]
    return tuple(sorted(found, key=lambda one: (not one.hard, one.owner, one.file, one.line, one.key)))


def names_agent(mention: Mention, alias: str, file: TomlFile, home: Home, agents: Agents) -> bool:
    """Whether a mention in a file is of this agent, or leads into its directory."""
    if mention.is_alias:
        return mention.text == alias
    if file.owner == alias and _goes_along(mention.text, alias):
        return False
    return inside(home.agent_dir(alias), place_of(mention, file, home, agents))


def place_of(mention: Mention, file: TomlFile, home: Home, agents: Agents) -> str:
    """Where a path leads, absolute and with links kept."""
    owner = agents.by_alias.get(file.owner)
    base = home.root if owner is None else owner.file.parent if mention.kind == "workspace" else owner.workspace
    return os.path.normpath(os.path.join(base, os.path.expanduser(mention.text)))  # noqa: PTH111, PTH118 - text in, text out


def _goes_along(text: str, alias: str) -> bool:
    """Whether a path in an agent's own file still leads to the same place when the directory has another name."""
    return not os.path.expanduser(text).startswith("/") and alias not in text.split("/")  # noqa: PTH111 - text


def inside(directory: Path, path: str) -> bool:
    """Whether a path is a directory or lies in it, also by way of links around it."""
    return any(
        place == top or place.startswith(f"{top}/")
        for top in {str(directory), os.path.realpath(directory)}
        for place in (path, os.path.realpath(path))
    )


def _read_file(owner: str, path: Path) -> TomlFile:
    try:
        data = read_file(path, _LIMIT).data
        table = table_in(data, path)
    except FileNotFoundError:
        return TomlFile(owner, path, b"", (), "it is missing")
    except ConfigError as error:
        return TomlFile(owner, path, b"", (), error.what)
    except PinfoldError as error:
        return TomlFile(owner, path, b"", (), error.why or error.what)
    found = mentions_in_agent(table) if owner else mentions_in_shared(table)
    return TomlFile(owner, path, data, tuple(found))


def _in_files(alias: str, home: Home, agents: Agents, files: tuple[TomlFile, ...]) -> Iterator[Reference]:
    for file in files:
        line = line_finder(file.data)
        for mention in file.mentions:
            if not names_agent(mention, alias, file, home, agents):
                continue
            own = file.owner == alias and not mention.is_alias
            hard = mention.kind == "workspace" and not own
            yield Reference(
                kind=mention.kind,
                owner=file.owner,
                text="names a path in its own directory"
                if own
                else f"{file.owner or 'pinfold.toml'} {_WORDS[mention.kind]}",
                hard=hard,
                file=str(file.path),
                line=line(mention.path),
                key=dotted(mention.path),
                value=mention.value or ("" if mention.is_alias else mention.text),
                fix=f"Give {file.owner} a workspace of its own first." if hard else "",
            )


def _unreadable(alias: str, files: tuple[TomlFile, ...]) -> Iterator[Reference]:
    """A file that cannot be read may name the agent, so it counts as if it did."""
    for file in files:
        if file.problem and file.owner != alias:
            yield Reference(
                kind="file",
                owner=file.owner,
                text=f"{file.owner or 'pinfold.toml'} may name it, but its file cannot be used: {file.problem}",
                hard=True,
                file=str(file.path),
                fix="Mend the file first.",
            )


def _in_sessions(alias: str, sessions: list[Session]) -> Iterator[Reference]:
    for session in sessions:
        if session.agent != alias:
            continue
        live = session.state.live
        kept = ", its sandbox is kept" if session.sandbox and not live else ""
        yield Reference(
            kind="session",
            owner=alias,
            text=f"session {session.id} is {session.state.value}{kept}",
            hard=live,
            key=session.id,
            fix=f"Stop it: pinfold sessions stop {session.id}" if live else "",
        )


def _in_database(alias: str, owned: Owned) -> Iterator[Reference]:
    if owned.moving:
        yield Reference(
            kind="memory",
            owner=alias,
            text="its memory is being moved to another back-end",
            hard=True,
            fix="Let the move end first.",
        )
    if owned.memories:
        yield Reference(kind="memory", owner=alias, text=_memories(owned.memories))
    if owned.tenants:
        yield Reference(kind="core memory", owner=alias, text=_tenants(owned.tenants))
    if owned.open_contexts:
        yield Reference(
            kind="context",
            owner=alias,
            text=f"{owned.open_contexts:,} contexts are being worked in",
            hard=True,
            fix="Let them end first.",
        )
    if closed := len(owned.contexts) - owned.open_contexts:
        yield Reference(kind="context", owner=alias, text=f"{closed:,} contexts that have ended")


def _tenants(count: int) -> str:
    return "core memory of 1 tenant" if count == 1 else f"core memory of {count:,} tenants"


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"
