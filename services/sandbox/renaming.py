"""An agent's sessions, and what its tools may and did, under another alias; runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3

import msgspec

from services.home import next_revision
from services.sandbox.model import SandboxSpec

_WITH_AGENT = ("tool_actions", "approvals")


def rename_sessions(connection: sqlite3.Connection, old: str, new: str, moved: tuple[str, str]) -> int:
    """Give an agent's sessions, with their tokens, to another alias, and count them; done again, it changes nothing.

    A sandbox that is kept carries the old alias in its label, which an engine cannot change; it is found by the id of
    its session.

    Args:
        connection: In a transaction.
        old: The alias the records have.
        new: The alias they get.
        moved: The directory the agent was in and the one it is in; paths below the first are below the second now.
    """
    found = connection.execute("SELECT id, workspace, spec FROM sessions WHERE agent = ?", (old,)).fetchall()
    for session, workspace, text in found:
        spec = msgspec.json.decode(text, type=SandboxSpec, strict=False)
        spec = msgspec.structs.replace(
            spec,
            agent=new,
            workspace=_moved(spec.workspace, moved),
            mounts=tuple(msgspec.structs.replace(one, source=_moved(one.source, moved)) for one in spec.mounts),
        )
        connection.execute(
            "UPDATE sessions SET agent = ?, workspace = ?, spec = ?, revision = ? WHERE id = ?",
            (new, _moved(workspace, moved), msgspec.json.encode(spec).decode(), next_revision(connection), session),
        )
    for table in _WITH_AGENT:
        connection.execute(f"UPDATE {table} SET agent = ? WHERE agent = ?", (new, old))
    connection.execute(
        "UPDATE tool_tokens SET grants = json_set(grants, '$.agent', ?) WHERE json_extract(grants, '$.agent') = ?",
        (new, old),
    )
    return len(found)


def _moved(path: str, moved: tuple[str, str]) -> str:
    old, new = moved
    return new + path[len(old) :] if path == old or path.startswith(f"{old}/") else path
