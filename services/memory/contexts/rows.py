"""The rows of contexts and their steps; every function runs inside a transaction of its caller."""

from __future__ import annotations

import sqlite3

import msgspec

from services.errors import NothingThere, StepRefused
from services.memory.contexts.model import Context, Outcome, Step, StepType
from services.memory.scopes import Scope, ScopeKind, Snapshot
from services.memory.scopes import rows as keys
from services.memory.scopes.values import decode

_CONTEXT = "id, coalesce(parent, ''), forked_in, resumes, agent, chat, request, state, created_at, ended_at"
_STEP = (
    "id, context, number, type, state, parent, stack, depth, chat, request, input, output, error,"
    " started_at, ended_at, used_at"
)
_UNFINISHED = "state IN ('failed', 'interrupted')"


def insert_context(connection: sqlite3.Connection, context: Context, owner: str) -> None:
    """Record a context."""
    connection.execute(
        "INSERT INTO contexts (id, parent, forked_in, resumes, agent, chat, request, owner, state, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)",
        (
            context.id,
            context.parent or None,
            context.forked_in,
            context.resumes,
            context.agent,
            context.chat,
            context.request,
            owner,
            context.created_at,
        ),
    )


def get_context(connection: sqlite3.Connection, context: str) -> Context:
    """Read a context.

    Raises:
        NothingThere: It was never opened, or ended well.
    """
    found = connection.execute(f"SELECT {_CONTEXT} FROM contexts WHERE id = ?", (context,)).fetchone()
    if found is None:
        raise NothingThere(f"there is no context {context!r}", why="it was never opened, or has ended")
    return Context(*found)


def open_context(connection: sqlite3.Connection, context: str) -> Context:
    """Read a context that is worked on.

    Raises:
        NothingThere: It was never opened, or ended well.
        StepRefused: It failed or was interrupted.
    """
    found = get_context(connection, context)
    if found.state != "open":
        raise StepRefused(f"context {context} has ended", why=f"it was {said(found.state)}")
    return found


def all_contexts(connection: sqlite3.Connection) -> list[Context]:
    """Read all contexts, oldest first."""
    return [Context(*row) for row in connection.execute(f"SELECT {_CONTEXT} FROM contexts ORDER BY created_at, id")]


def end_context(connection: sqlite3.Connection, context: str, outcome: Outcome, error: str, now: int) -> None:
    """End a context and its forks, delete their keys, and keep their rows only where something can be resumed."""
    forks = connection.execute("SELECT id FROM contexts WHERE parent = ? AND state = 'open'", (context,)).fetchall()
    for (fork,) in forks:
        end_context(connection, fork, outcome, error, now)
    keys.remove_all(connection, Scope(ScopeKind.CONTEXT, context), now)
    connection.execute(
        "UPDATE context_steps SET state = ?, error = ?, ended_at = ? WHERE context = ? AND state = 'running'",
        (outcome, error, now, context),
    )
    kept = (
        f"SELECT 1 FROM context_steps WHERE context = ?1 AND {_UNFINISHED}"
        " UNION ALL SELECT 1 FROM contexts WHERE parent = ?1"
    )
    if outcome == "completed" or connection.execute(kept, (context,)).fetchone() is None:
        connection.execute("DELETE FROM contexts WHERE id = ?", (context,))
    else:
        connection.execute("UPDATE contexts SET state = ?, ended_at = ? WHERE id = ?", (outcome, now, context))


def owners(connection: sqlite3.Connection) -> list[str]:
    """Read whose contexts are open."""
    query = "SELECT DISTINCT owner FROM contexts WHERE state = 'open'"
    return [owner for (owner,) in connection.execute(query)]


def end_all_of(connection: sqlite3.Connection, owner: str, error: str, now: int) -> int:
    """End the open contexts of one owner as interrupted, and count them."""
    query = "SELECT id FROM contexts WHERE owner = ? AND state = 'open'"
    contexts = connection.execute(query, (owner,)).fetchall()
    for (context,) in contexts:
        end_context(connection, context, "interrupted", error, now)
    return len(contexts)


def delete_ended_before(connection: sqlite3.Connection, time: int) -> int:
    """Delete contexts that ended before a time with their steps, and count them."""
    query = "DELETE FROM contexts WHERE state <> 'open' AND ended_at < ?"
    return connection.execute(query, (time,)).rowcount


def insert_step(
    connection: sqlite3.Connection, step: str, context: Context, type: StepType, given: str, inside: str, now: int
) -> Step:
    """Record a step that starts now, with a copy of its context's keys.

    Args:
        connection: In a transaction.
        step: Its id.
        context: An open one.
        type: What it does.
        given: Its input as JSON.
        inside: The step it runs inside; "" is the innermost that runs.
        now: Nanoseconds since 1970.

    Raises:
        NothingThere: There is no step `inside`.
    """
    parent = inside or innermost(connection, context)
    depth = get_step(connection, parent).depth + 1 if parent else 0
    query = "SELECT coalesce(max(number), 0) + 1 FROM context_steps WHERE context = ?"
    (number,) = connection.execute(query, (context.id,)).fetchone()
    snapshot = msgspec.json.encode(keys.snapshot_of(connection, context.scope, now)).decode()
    connection.execute(
        "INSERT INTO context_steps (id, context, number, type, state, parent, stack, depth, chat, request, input,"
        " snapshot, started_at) VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            step,
            context.id,
            number,
            type,
            parent,
            parent or context.id,
            depth,
            context.chat,
            context.request,
            given,
            snapshot,
            now,
        ),
    )
    return get_step(connection, step)


def innermost(connection: sqlite3.Connection, context: Context) -> str:
    """Find the step that runs and was started last, else the step the context was forked in, else ""."""
    query = "SELECT id FROM context_steps WHERE context = ? AND state = 'running' ORDER BY sequence DESC LIMIT 1"
    found = connection.execute(query, (context.id,)).fetchone()
    return context.forked_in if found is None else str(found[0])


def end_step(
    connection: sqlite3.Connection, step: str, outcome: Outcome, output: str | None, error: str, now: int
) -> Step:
    """End a step that runs; one that is completed needs its snapshot no more.

    Raises:
        NothingThere: There is no such step.
        StepRefused: It has ended.
    """
    found = get_step(connection, step)
    if found.state != "running":
        raise StepRefused(f"step {step} has ended", why=f"it was {said(found.state)}")
    connection.execute(
        "UPDATE context_steps SET state = ?1, output = ?2, error = ?3, ended_at = ?4,"
        " snapshot = iif(?1 = 'completed', NULL, snapshot) WHERE id = ?5",
        (outcome, output, error, now, step),
    )
    return get_step(connection, step)


def get_step(connection: sqlite3.Connection, step: str) -> Step:
    """Read a step.

    Raises:
        NothingThere: There is none, or it was deleted.
    """
    query = f"SELECT {_STEP} FROM context_steps WHERE id = ? AND deleted_at IS NULL"
    found = connection.execute(query, (step,)).fetchone()
    if found is None:
        raise NothingThere(f"there is no step {step!r}")
    return _step(found)


def steps_where(connection: sqlite3.Connection, wanted: dict[str, str], *, resumable: bool = False) -> list[Step]:
    """Read steps in the order they started.

    Args:
        connection: In a transaction.
        wanted: Values by column: chat, request, stack, context; "" is any.
        resumable: Only those a context can be resumed from.
    """
    given = {column: value for column, value in wanted.items() if value}
    conditions = ["deleted_at IS NULL", *(f"{column} = ?" for column in given)]
    if resumable:
        conditions.append(f"{_UNFINISHED} AND used_at IS NULL")
    query = f"SELECT {_STEP} FROM context_steps WHERE {' AND '.join(conditions)} ORDER BY sequence"
    return [_step(row) for row in connection.execute(query, tuple(given.values()))]


def path_to(connection: sqlite3.Connection, step: str) -> list[Step]:
    """Read the steps a step runs inside, the outermost first, and itself.

    Raises:
        NothingThere: There is no such step.
    """
    path = [get_step(connection, step)]
    while path[-1].parent:
        path.append(get_step(connection, path[-1].parent))
    return path[::-1]


def snapshot_at(connection: sqlite3.Connection, step: str) -> Snapshot:
    """Read what was in a step's context when it started.

    Raises:
        NothingThere: There is no such step, or it is completed.
    """
    query = "SELECT snapshot FROM context_steps WHERE id = ? AND deleted_at IS NULL"
    found = connection.execute(query, (step,)).fetchone()
    if found is None or found[0] is None:
        raise NothingThere(f"step {step!r} has no snapshot", why="there is no such step, or it is completed")
    return msgspec.json.decode(found[0], type=Snapshot)


def mark_used(connection: sqlite3.Connection, steps: list[Step], now: int) -> None:
    """Note that a context was resumed from these steps."""
    query = "UPDATE context_steps SET used_at = ? WHERE id = ?"
    connection.executemany(query, [(now, step.id) for step in steps])


def mark_deleted(connection: sqlite3.Connection, chat: str, now: int) -> int:
    """Take the ended steps of a chat out of sight, and count them."""
    query = (
        "UPDATE context_steps SET deleted_at = ? WHERE chat = ? AND deleted_at IS NULL AND context NOT IN"
        " (SELECT id FROM contexts WHERE state = 'open')"
    )
    return connection.execute(query, (now, chat)).rowcount


def said(state: str) -> str:
    """Say a state after "it was"; a step may fail but not be failed."""
    return "left after a failure" if state == "failed" else state


def _step(row: tuple[object, ...]) -> Step:
    fields = dict(zip(_STEP.replace(" ", "").split(","), row, strict=True))
    fields["type"] = StepType(str(fields["type"]))
    fields["input"] = decode(str(fields["input"]))
    fields["output"] = None if fields["output"] is None else decode(str(fields["output"]))
    return Step(**fields)  # type: ignore[arg-type]
