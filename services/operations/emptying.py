"""Rows of a deleted agent removed from wherever they are, once they are known to be in the archive."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from services.errors import OperationError
from services.memory import (
    NO_ROWS,
    Owner,
    Scope,
    ScopeKind,
    clear_contexts,
    detach_as_known,
    purge_scopes,
    purge_some,
)
from services.memory.agents import Backend
from services.operations.exporting import Exported, aside, export_memory, exported, writer_of
from services.operations.journal import note_in
from services.operations.row_digests import digest_of
from services.operations.running import Run

_TRIES = 3
_AT_ONCE = 1000
_SQLITE = "sqlite"
_PURGING = "purging"
_IN_FILES = ("markdown", "none")
"""Back-ends whose rows lie in the workspace and go with it, or nowhere."""


async def purge_memory(run: Run) -> str:
    """Remove memories, core memory and keys.

    In the database all of it is made nobody's in one transaction with the note of that, so that rows of a new agent of
    this name are never taken for those of the old one; what is nobody's goes a little at a time, so that others write
    meanwhile.
    """
    found = exported(run.operation.steps, "memory")
    done = run.step.result if run.step.result != _PURGING else ""
    done = done or await _given_up(run, found)
    gone = 0
    while some := await run.house.database.write(lambda c: purge_some(c, _nobody(run), _AT_ONCE)):
        gone += some
        run.tell("removing memories", gone, found.items, "rows")
    return done


def _nobody(run: Run) -> str:
    """What is no alias, and so the name of rows that are nobody's."""
    return f"{run.alias} {run.operation.id}"


async def _given_up(run: Run, found: Exported) -> str:
    where = exported(run.operation.steps, "workspace")
    owner = Owner(run.alias, aside(run) / where.workspace if where.own else Path(where.workspace))
    backend = run.house.memories.backends[found.backend]
    if found.backend not in (*_IN_FILES, _SQLITE):
        found = await _purge_elsewhere(run, found, backend, owner)
    for _ in range(_TRIES):
        if done := await run.house.database.write(lambda c: _detach(c, run, found)):  # noqa: B023
            return done
        found = await _exported_again(run, found, backend, owner)
    raise OperationError("its memory changes all the time", fix="Stop what writes there, and retry.")


def _detach(connection: sqlite3.Connection, run: Run, found: Exported) -> str:
    """Make rows nobody's with all else, if they are those that were exported; "" when they are not."""
    if found.backend == _SQLITE and not detach_as_known(connection, run.alias, found.rows or NO_ROWS, _nobody(run)):
        return ""
    return _noted(connection, run, found.items)


async def _purge_elsewhere(run: Run, found: Exported, backend: Backend, owner: Owner) -> Exported:
    """Remove the rows of a back-end that is no part of the database.

    What a purge has begun to remove is in the archive, and so is never exported anew.
    """
    if run.step.result != _PURGING:
        found = await _surely_kept(run, found, backend, owner)
        await run.note(_PURGING)
    await backend.purge(owner)
    return found


async def _surely_kept(run: Run, found: Exported, backend: Backend, owner: Owner) -> Exported:
    """Export rows anew until the archive has them as they are."""
    for _ in range(_TRIES):
        if await digest_of(backend.read_out(owner)) == found.digest:
            return found
        found = await _exported_again(run, found, backend, owner)
    raise OperationError("its memory changes all the time", fix="Stop what writes there, and retry.")


async def _exported_again(run: Run, found: Exported, backend: Backend, owner: Owner) -> Exported:
    """Export rows anew that changed after they were exported."""
    writer = await writer_of(run)
    await writer.drop("memory.jsonl")
    fresh = await export_memory(run, writer, backend, owner)
    (number,) = (step.number for step in run.operation.steps if (step.name, step.subject) == ("export", "memory"))
    await run.house.journal.note(run.operation.id, number, msgspec.json.encode(fresh).decode())
    return msgspec.structs.replace(found, items=fresh.items, rows=fresh.rows, digest=fresh.digest)


def _noted(connection: sqlite3.Connection, run: Run, memories: int) -> str:
    """Remove core memory and keys, and note in the same transaction that all of it went."""
    steps = run.operation.steps
    tenants = exported(steps, "core memory").ids
    for tenant in reversed(tenants):
        connection.execute("DELETE FROM tenants WHERE id = ?", (int(tenant),))
    scopes = [Scope.parse(text) for text in exported(steps, "scopes").ids]
    keys = purge_scopes(connection, scopes)
    clear_contexts(connection, [scope.id for scope in scopes if scope.kind is ScopeKind.CONTEXT])
    connection.execute("DELETE FROM tool_actions WHERE agent = ?", (run.alias,))
    done = f"{memories:,} memories, core memory of {len(tenants)} tenants, {keys} keys"
    note_in(connection, run.operation.id, run.step.number, done)
    return done
