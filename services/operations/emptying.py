"""Rows of a deleted agent removed from wherever they are, once they are known to be in the archive."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from services.errors import OperationError
from services.memory import (
    Listing,
    Owner,
    Scope,
    ScopeKind,
    clear_contexts,
    purge_as_known,
    purge_scopes,
)
from services.memory.agents import Backend
from services.operations.exporting import Exported, aside, export_memory, exported, writer_of
from services.operations.journal import note_in
from services.operations.running import Run

_TRIES = 3
_ALL = Listing(superseded=True)
_SQLITE = "sqlite"
_IN_FILES = ("markdown", "none")
"""Back-ends whose rows lie in the workspace and go with it, or nowhere."""


async def purge_memory(run: Run) -> str:
    """Remove memories, core memory and keys.

    What is in the database goes in one transaction with the note that it went, so that rows of a new agent of this name
    are never taken for those of the old one.
    """
    if run.step.result:
        return run.step.result
    found = exported(run.operation.steps, "memory")
    where = exported(run.operation.steps, "workspace")
    owner = Owner(run.alias, aside(run) / where.workspace if where.own else Path(where.workspace))
    backend = run.house.memories.backends[found.backend]
    if found.backend == _SQLITE:
        return await _purge_with_rows(run, found, backend, owner)
    if found.backend not in _IN_FILES:
        found = await _purge_elsewhere(run, found, backend, owner)
    done = f"{found.items} memories, {{}}"
    return await run.house.database.write(lambda c: _noted(c, run, done))


async def _purge_with_rows(run: Run, found: Exported, backend: Backend, owner: Owner) -> str:
    for _ in range(_TRIES):
        if done := await run.house.database.write(lambda c: _purge_rows(c, run, found)):  # noqa: B023
            return done
        found = await _exported_again(run, found, backend, owner)
    raise OperationError("its memory changes all the time", fix="Stop what writes there, and retry.")


def _purge_rows(connection: sqlite3.Connection, run: Run, found: Exported) -> str:
    """Remove the rows with all else, if they are those that were exported; "" when they are not."""
    if found.rows is None or not purge_as_known(connection, run.alias, found.rows):
        return ""
    return _noted(connection, run, f"{found.items} memories, {{}}")


async def _purge_elsewhere(run: Run, found: Exported, backend: Backend, owner: Owner) -> Exported:
    """Remove the rows of a back-end that is no part of the database; none are left when this was done before."""
    there = await backend.count(owner, _ALL)
    if there and there != found.items:
        found = await _exported_again(run, found, backend, owner)
    await backend.purge(owner)
    return found


async def _exported_again(run: Run, found: Exported, backend: Backend, owner: Owner) -> Exported:
    """Export rows anew that changed after they were exported."""
    writer = await writer_of(run)
    await writer.drop("memory.jsonl")
    fresh = await export_memory(run, writer, backend, owner)
    (number,) = (step.number for step in run.operation.steps if (step.name, step.subject) == ("export", "memory"))
    await run.house.journal.note(run.operation.id, number, msgspec.json.encode(fresh).decode())
    return msgspec.structs.replace(found, items=fresh.items, rows=fresh.rows)


def _noted(connection: sqlite3.Connection, run: Run, told: str) -> str:
    """Remove core memory and keys, and note in the same transaction that all of it went."""
    steps = run.operation.steps
    tenants = exported(steps, "core memory").ids
    for tenant in reversed(tenants):
        connection.execute("DELETE FROM tenants WHERE id = ?", (int(tenant),))
    scopes = [Scope.parse(text) for text in exported(steps, "scopes").ids]
    keys = purge_scopes(connection, scopes)
    clear_contexts(connection, [scope.id for scope in scopes if scope.kind is ScopeKind.CONTEXT])
    connection.execute("DELETE FROM tool_actions WHERE agent = ?", (run.alias,))
    done = told.format(f"core memory of {len(tenants)} tenants, {keys} keys")
    note_in(connection, run.operation.id, run.step.number, done)
    return done
