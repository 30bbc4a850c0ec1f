"""Operations as rows: what was planned, which steps were done, and what is still to do.

A row says `running` until somebody says otherwise; whether somebody still runs it is told by its lock, which the kernel
frees when they die.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from services.activity import ActivityGrew, ActivityLog, Draft, Event, Events, Outcome
from services.errors import DatabaseError, OperationNotFound
from services.home import BlockingCalls, Database, FileLock, Home, next_revision
from services.operations.model import Operation, OperationState, Plan, Step, StepState

_COLUMNS = (
    "id, kind, alias, target, archive, actor, state, detail, warnings, committed, created_at, ended_at, plan, revision"
)
_STEP_COLUMNS = "number, name, text, subject, state, detail, result, started_at, ended_at"
_UNFINISHED = "state IN ('running', 'failed')"
_DETAIL_LIMIT = 4000
_OUTCOMES: dict[OperationState, Outcome] = {OperationState.DONE: "done", OperationState.CANCELLED: "refused"}


@dataclass(frozen=True)
class OperationChanged(Event):
    """An operation's row or one of its steps changed."""

    operation: str


def operation_lock(home: Home, operation: str) -> FileLock:
    """The lock held by whoever runs an operation."""
    return FileLock(home.locks_dir / f"operation-{operation}.lock", f"the operation {operation}")


class Journal:
    """Reads and writes the journal; every write is one transaction.

    Args:
        home: Whose locks tell which operations are under way.
        database: Where the rows are.
        activity: Gets an entry in the same transaction as the change it tells of.
        events: Told of every change made here.
        calls: For the disk.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(
        self,
        home: Home,
        database: Database,
        activity: ActivityLog,
        events: Events,
        calls: BlockingCalls,
        now: Callable[[], int],
    ) -> None:
        self._home = home
        self._database = database
        self._activity = activity
        self._events = events
        self._calls = calls
        self._now = now

    # --- reading

    async def all(self, limit: int = 1000) -> list[Operation]:
        """Read operations, the newest first."""
        return await self._read(f"SELECT {_COLUMNS} FROM operations ORDER BY created_at DESC, id DESC LIMIT ?", limit)

    async def unfinished(self) -> list[Operation]:
        """Read those that are under way or wait for being retried, the oldest first."""
        return await self._read(f"SELECT {_COLUMNS} FROM operations WHERE {_UNFINISHED} ORDER BY created_at, id")

    async def get(self, operation: str) -> Operation:
        """Read one by its id, or by a unique start or end of it.

        Raises:
            OperationNotFound: None or several fit.
        """
        found = await self._read(
            f"SELECT {_COLUMNS} FROM operations WHERE id = ?1 OR (?1 <> '' AND (substr(id, 1, length(?1)) = ?1"
            " OR substr(id, -length(?1)) = ?1)) ORDER BY id = ?1 DESC, id DESC LIMIT 3",
            operation,
        )
        if found and (len(found) == 1 or found[0].id == operation):
            return found[0]
        why = f"it fits {', '.join(one.id for one in found)}" if found else ""
        raise OperationNotFound(
            f"there is no operation {operation!r}", why=why, fix="`pinfold operations list` names them."
        )

    async def holding(self, *aliases: str) -> Operation | None:
        """Find the operation that must be completed before anything else is done with one of these agents.

        One that nobody runs, and that is not past its point of no return, holds nobody up: it changed nothing yet.
        """
        for operation in await self.unfinished():
            underway = operation.committed or operation.state is OperationState.RUNNING
            if underway and set(operation.concerns) & set(aliases):
                return operation
        return None

    async def deletes_into(self, archive: str) -> list[Operation]:
        """Find the delete that wrote an archive; none when that was in another home."""
        return await self._read(f"SELECT {_COLUMNS} FROM operations WHERE kind = 'delete' AND archive = ?", archive)

    async def _read(self, sql: str, *values: object) -> list[Operation]:
        def job(connection: sqlite3.Connection) -> list[Operation]:
            return [_operation(row, _steps(connection, row[0])) for row in connection.execute(sql, values).fetchall()]

        found = await self._database.read(job)
        return await self._calls.run(lambda: [self._with_state(one) for one in found])

    def _with_state(self, operation: Operation) -> Operation:
        """A row that says it runs was interrupted when nobody holds its lock."""
        if operation.state is not OperationState.RUNNING:
            return operation
        lock = operation_lock(self._home, operation.id)
        if not lock.try_acquire():
            return operation
        lock.release()
        return msgspec.structs.replace(operation, state=OperationState.INTERRUPTED)

    # --- writing

    async def begin(self, operation: Operation) -> None:
        """Record a new operation with all its steps."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"INSERT INTO operations ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    operation.id,
                    operation.kind,
                    operation.alias,
                    operation.target,
                    operation.archive,
                    operation.by,
                    operation.state.value,
                    operation.detail,
                    msgspec.json.encode(operation.warnings).decode(),
                    operation.committed,
                    operation.created_at,
                    operation.ended_at,
                    msgspec.json.encode(operation.plan).decode(),
                    next_revision(connection),
                ),
            )
            _insert_steps(connection, operation.id, operation.steps)

        await self._write(operation.id, job)

    async def take_up(self, operation: str) -> None:
        """Say that somebody runs it again."""
        await self._write(
            operation,
            lambda c: c.execute(
                "UPDATE operations SET state = 'running', detail = '', ended_at = NULL WHERE id = ?", (operation,)
            ),
        )

    async def pause(self, operation: str) -> None:
        """Say that nobody runs it, so that it is not in its own way while it is planned anew."""
        await self._write(
            operation, lambda c: c.execute("UPDATE operations SET state = 'failed' WHERE id = ?", (operation,))
        )

    async def start_over(self, operation: Operation, plan: Plan, steps: Iterable[Step]) -> None:
        """Give one that is not past its point of no return another plan, and let it begin anew."""

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE operations SET plan = ?, archive = ?, state = 'running', detail = '', warnings = '[]',"
                " ended_at = NULL WHERE id = ?",
                (msgspec.json.encode(plan).decode(), plan.archive, operation.id),
            )
            connection.execute("DELETE FROM operation_steps WHERE operation = ?", (operation.id,))
            _insert_steps(connection, operation.id, steps)

        await self._write(operation.id, job)

    async def name_archive(self, operation: str, archive: str) -> None:
        """Record which archive it writes."""
        await self._write(
            operation, lambda c: c.execute("UPDATE operations SET archive = ? WHERE id = ?", (archive, operation))
        )

    async def commit(self, operation: str) -> None:
        """Record that it is past its point of no return."""
        await self._write(
            operation, lambda c: c.execute("UPDATE operations SET committed = 1 WHERE id = ?", (operation,))
        )

    async def warn(self, operation: str, warnings: Iterable[str]) -> None:
        """Add to what was done otherwise than planned; a warning that is there is not repeated."""
        added = tuple(warnings)

        def job(connection: sqlite3.Connection) -> None:
            (text,) = connection.execute("SELECT warnings FROM operations WHERE id = ?", (operation,)).fetchone()
            known = msgspec.json.decode(text, type=list[str])
            known += [warning for warning in added if warning not in known]
            encoded = msgspec.json.encode(known).decode()
            connection.execute("UPDATE operations SET warnings = ? WHERE id = ?", (encoded, operation))

        if added:
            await self._write(operation, job)

    async def begin_step(self, operation: str, number: int) -> None:
        """Record that a step runs."""
        await self._write(
            operation,
            lambda c: c.execute(
                "UPDATE operation_steps SET state = 'running', detail = '', started_at = ?, ended_at = NULL"
                " WHERE operation = ? AND number = ?",
                (self._now(), operation, number),
            ),
            lasting=False,
        )

    async def note(self, operation: str, number: int, result: str) -> None:
        """Record what a step found so far, for a retry and for the steps after it."""
        await self._write(operation, lambda c: note_in(c, operation, number, result))

    async def end_step(self, operation: str, number: int, state: StepState, detail: str = "") -> None:
        """Record how a step ended."""
        await self._write(
            operation,
            lambda c: c.execute(
                "UPDATE operation_steps SET state = ?, detail = ?, ended_at = ? WHERE operation = ? AND number = ?",
                (state, _storable(detail), self._now(), operation, number),
            ),
            lasting=False,
        )

    async def finish(self, operation: Operation, state: OperationState, detail: str = "") -> None:
        """Record how it ended, with an entry in the activity log."""
        outcome = _OUTCOMES.get(state, "failed")
        ended_at = None if state.unfinished else self._now()
        told = detail or _summary(operation)

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE operations SET state = ?, detail = ?, ended_at = ? WHERE id = ?",
                (state.value, _storable(detail), ended_at, operation.id),
            )
            self._activity.append(
                connection,
                Draft(f"agent.{operation.kind}", operation.by, operation.alias, outcome=outcome, detail=told),
            )

        await self._write(operation.id, job)
        self._events.publish(ActivityGrew())

    async def _write(
        self, operation: str, job: Callable[[sqlite3.Connection], object], *, lasting: bool = True
    ) -> None:
        """Write in one transaction; what is lasting survives a power failure too, the rest is found out again."""

        def revised(connection: sqlite3.Connection) -> None:
            job(connection)
            connection.execute(
                "UPDATE operations SET revision = ? WHERE id = ?", (next_revision(connection), operation)
            )

        await self._database.write(revised)
        if lasting:
            await self._calls.run(self._database.sync)
        self._events.publish(OperationChanged(operation))


def note_in(connection: sqlite3.Connection, operation: str, number: int, result: str) -> None:
    """Record what a step found, in the transaction in which it became true."""
    connection.execute(
        "UPDATE operation_steps SET result = ? WHERE operation = ? AND number = ?", (result, operation, number)
    )


def _summary(operation: Operation) -> str:
    parts = [f"to {operation.target}"] if operation.target and operation.target != operation.alias else []
    parts += [f"archive {operation.archive}"] if operation.archive else []
    return ", ".join(parts)


def _insert_steps(connection: sqlite3.Connection, operation: str, steps: Iterable[Step]) -> None:
    connection.executemany(
        f"INSERT INTO operation_steps (operation, {_STEP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(operation, *msgspec.structs.astuple(step)) for step in steps],
    )


def _steps(connection: sqlite3.Connection, operation: str) -> tuple[Step, ...]:
    sql = f"SELECT {_STEP_COLUMNS} FROM operation_steps WHERE operation = ? ORDER BY number"
    names = Step.__struct_fields__
    return tuple(Step(**dict(zip(names, row, strict=True))) for row in connection.execute(sql, (operation,)))


def _operation(row: tuple[object, ...], steps: tuple[Step, ...]) -> Operation:
    fields = dict(zip(Operation.__struct_fields__, row, strict=False))
    try:
        fields["warnings"] = msgspec.json.decode(str(fields["warnings"]))
        fields["plan"] = msgspec.json.decode(str(fields["plan"]), type=Plan)
        fields["steps"] = steps
        return msgspec.convert(fields, Operation, strict=False)
    except msgspec.MsgspecError as error:
        raise DatabaseError(f"the record of operation {row[0]} is damaged", why=str(error)) from error


def _storable(detail: str) -> str:
    return detail[:_DETAIL_LIMIT].encode("utf-8", errors="replace").decode("utf-8")
