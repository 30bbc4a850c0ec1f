"""An operation carried out step by step: each is journalled, told of while it runs, and done again after a crash.

Steps that depend on nothing of one another run at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TypeVar

from services.archives import Done, Work
from services.archives import Progress as ArchiveProgress
from services.errors import LockHeld, OperationError, OperationRefused, PinfoldError
from services.home import FileLock
from services.operations.house import House
from services.operations.journal import operation_lock
from services.operations.model import Operation, OperationState, Progress, Step
from services.operations.shared_writer import SharedWriter

T = TypeVar("T")

_LOCK_SECONDS = 5.0
_PAUSE = 0.02
_TOLD_SECONDS = 0.05


class Cancelled(OperationError):
    """The operator cancelled it, before its point of no return."""


@dataclass
class Run:
    """One attempt at an operation, as its steps see it.

    Attributes:
        operation: As recorded when this or another step that runs at once began or ended.
        step: The step that runs.
        leading: It is the first of those that run.
    """

    house: House
    operation: Operation
    step: Step
    writer: SharedWriter
    _told: asyncio.Queue[Progress | None]
    _cancelled: Callable[[], bool]
    leading: bool = True
    warnings: list[str] = field(default_factory=list)

    @property
    def alias(self) -> str:
        """The agent as it was called."""
        return self.operation.alias

    @property
    def target(self) -> str:
        """The alias it is to have."""
        return self.operation.target

    def tell(self, note: str, done: int = 0, total: int = 0, unit: str = "") -> None:
        """Say how far the step is; raises `Cancelled` when it is to stop. Only on the event loop."""
        self._told.put_nowait(self._progress(note, done, total, unit))
        self.check()

    def tell_that_it_begins(self) -> None:
        """Say what the step does."""
        self._told.put_nowait(self._progress(self.step.text, 0, 0, ""))

    def check(self) -> None:
        """Stop when the operator wants it, and it can be.

        Raises:
            Cancelled: It is to stop.
        """
        if self._cancelled():
            raise Cancelled("cancelled", why="nothing was changed")

    def teller(self) -> Callable[[str, int, int, str], None]:
        """A `tell` for threads, which passes on what is new some times a second."""
        loop = asyncio.get_running_loop()
        last = [0.0]

        def tell(note: str, done: int, total: int, unit: str) -> None:
            self.check()
            now = loop.time()
            if now - last[0] >= _TOLD_SECONDS:
                last[0] = now
                loop.call_soon_threadsafe(self._told.put_nowait, self._progress(note, done, total, unit))

        return tell

    def _progress(self, note: str, done: int, total: int, unit: str) -> Progress:
        return Progress(
            operation=self.operation,
            step=self.step.name,
            number=self.step.number,
            leading=self.leading,
            note=note,
            done=done,
            total=total,
            unit=unit,
        )

    async def note(self, result: str) -> None:
        """Record what the step found so far, for a retry and for the steps after it."""
        await self.house.journal.note(self.operation.id, self.step.number, result)

    async def work(self, work: Work[T], doing: str = "") -> T:
        """Do some work on an archive, and tell how far it is."""
        try:
            async for event in work:
                if isinstance(event, Done):
                    return event.result
                self._tell_of(event, doing)
        finally:
            await work.aclose()
        raise OperationError("the work ended without a result")

    def _tell_of(self, progress: ArchiveProgress, doing: str) -> None:
        note = f"{doing} {progress.doing}".strip()
        if progress.total_items:
            self.tell(note, progress.items, progress.total_items, "items")
        else:
            self.tell(note, progress.size, progress.total_size, "bytes")


StepFunction = Callable[[Run], Awaitable[str]]
"""Does a step, also when it was done in part or whole before; returns what came of it, for people."""


@dataclass(frozen=True)
class Course:
    """How operations of one kind are carried out.

    Attributes:
        steps: By name.
        undo: Takes back what was done before the point of no return.
        together: Steps by name and subject, neighbours of which depend on nothing of one another and run at once.
    """

    steps: Mapping[str, StepFunction]
    undo: Callable[[House, Operation], Awaitable[None]]
    together: tuple[frozenset[tuple[str, str]], ...] = ()

    def next_steps(self, operation: Operation) -> tuple[Step, ...]:
        """The step that is to be done next, with those that can be done at once with it; none when all are done."""
        first = operation.step
        if first is None:
            return ()
        group = next((group for group in self.together if (first.name, first.subject) in group), frozenset())
        rest = takewhile(lambda step: (step.name, step.subject) in group, operation.steps[first.number :])
        return (first, *(step for step in rest if step.state != "done"))


class Attempt:
    """One attempt at an operation, with its locks held.

    Args:
        house: What it works with.
        operation: As it will be, or is, recorded.
        locks: Held by the caller and given back here.
    """

    def __init__(self, house: House, course: Course, operation: Operation, locks: ExitStack) -> None:
        self._house = house
        self._course = course
        self._operation = operation
        self._locks = locks
        self._told: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._cancel = False
        self._failed = False
        self._writer = SharedWriter(house.archives)

    async def progress(self) -> AsyncGenerator[Progress, None]:
        """Carry it out, telling how far it is at least every 100 ms; the last item shows how it ended.

        Leaving the iteration early cancels it before its point of no return, and later leaves the rest to a retry.

        Raises:
            PinfoldError: A step failed; the operation is recorded as failed with the reason.
        """
        task = asyncio.create_task(self._carry_out(), name=f"{self._operation.kind} {self._operation.alias}")
        task.add_done_callback(lambda _: self._told.put_nowait(None))
        last = Progress(operation=self._operation)
        try:
            while True:
                try:
                    async with asyncio.timeout(_TOLD_SECONDS):
                        told = await self._told.get()
                except TimeoutError:
                    yield last
                    continue
                if told is None:
                    break
                last = told
                yield told
            yield Progress(operation=task.result())
        finally:
            self._cancel = True
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # was told to whoever iterates, or nobody does

    async def _carry_out(self) -> Operation:
        journal, operation = self._house.journal, self._operation
        try:
            while steps := self._course.next_steps(operation):
                operation = await self._do(operation, steps)
            await journal.finish(operation, OperationState.DONE)
            operation_lock(self._house.home, operation.id).path.unlink(missing_ok=True)  # nobody will take it again
            return await journal.get(operation.id)
        finally:
            self._locks.close()

    async def _do(self, operation: Operation, steps: Sequence[Step]) -> Operation:
        """Do some steps at once; when one of them fails the others stop as soon as they can."""
        journal = self._house.journal
        if steps[0].name == operation.plan.point_of_no_return and not operation.committed:
            await journal.commit(operation.id)
        for step in steps:
            await journal.begin_step(operation.id, step.number)
        operation = await journal.get(operation.id)
        runs = [Run(self._house, operation, step, self._writer, self._told, self._stops) for step in steps]
        _lead(runs)
        running = list(runs)
        outcomes = await asyncio.gather(*(self._run(run, running) for run in runs), return_exceptions=True)
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        error = next((error for error in errors if not isinstance(error, Cancelled)), next(iter(errors), None))
        if error is not None:
            await self._end(operation, steps[outcomes.index(error)], error)
            raise error
        return await journal.get(operation.id)

    def _stops(self) -> bool:
        return self._cancel or self._failed

    async def _run(self, run: Run, running: list[Run]) -> None:
        """Do one step and record how it ended; those that still run know of it then."""
        journal, operation, step = self._house.journal, run.operation.id, run.step
        run.tell_that_it_begins()
        try:
            run.check()
            detail = await self._course.steps[step.name](run)
        except Cancelled:
            await journal.end_step(operation, step.number, "cancelled")
            raise
        except (PinfoldError, OSError) as error:
            self._failed = True
            failure = error if isinstance(error, PinfoldError) else _explained(error)
            await journal.end_step(operation, step.number, "failed", str(failure))
            raise failure from error
        except BaseException:
            self._failed = True
            raise
        await journal.warn(operation, run.warnings)
        await journal.end_step(operation, step.number, "done", detail)
        running.remove(run)
        if running:
            now = await journal.get(operation)
            for other in running:
                other.operation = now
            _lead(running)

    async def _end(self, operation: Operation, step: Step, error: BaseException) -> None:
        """Take everything back before the point of no return, and record how the operation ended."""
        journal = self._house.journal
        if not isinstance(error, PinfoldError):
            return
        if not operation.committed:
            await self._course.undo(self._house, operation)
        if not isinstance(error, Cancelled):
            await journal.finish(operation, OperationState.FAILED, f"{step.text}: {error}")
        elif operation.committed:
            await journal.finish(operation, OperationState.FAILED, "it was left on the way; a retry completes it")
        else:
            await journal.finish(operation, OperationState.CANCELLED, "cancelled; nothing was changed")


def _lead(running: Sequence[Run]) -> None:
    """Let the first of those that run lead."""
    for number, run in enumerate(running):
        run.leading = number == 0


async def take_locks(house: House, operation: str, aliases: tuple[str, ...]) -> ExitStack:
    """Take the locks of an operation and of the agents it concerns.

    Raises:
        OperationRefused: Somebody else holds one, and kept it for some seconds; says who, where that is known.
    """
    held = ExitStack()
    locks = [operation_lock(house.home, operation)]
    locks += [house.home.agent_lock(alias) for alias in sorted(set(aliases) - {""})]
    try:
        for lock in locks:
            if not await _taken(lock):
                raise await _explain_lock(house, lock, aliases)
            held.callback(lock.release)
    except BaseException:
        held.close()
        raise
    return held


async def _taken(lock: FileLock) -> bool:
    deadline = asyncio.get_running_loop().time() + _LOCK_SECONDS
    while not lock.try_acquire():
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(_PAUSE)
    return True


async def _explain_lock(house: House, lock: FileLock, aliases: tuple[str, ...]) -> PinfoldError:
    holder = await house.journal.holding(*aliases)
    if holder is not None and holder.state is OperationState.RUNNING:
        why = f"operation {holder.id}, a {holder.kind} of {holder.alias}, is under way"
        return OperationRefused(f"{lock.what} is in use", why=why, fix="Wait until it has ended.")
    why = "another Pinfold starts a session of it or writes its file"
    return LockHeld(f"{lock.what} is in use", why=why, fix="Try again shortly.")


def _explained(error: OSError) -> PinfoldError:
    reason = error.strerror or str(error)
    return OperationError(f"{error.filename}: {reason}" if error.filename else reason)
