"""Contexts: opened, forked, worked in step by step, released, and resumed after whatever ended them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from services.errors import StepRefused
from services.home import BlockingCalls, Database
from services.memory.contexts import rows
from services.memory.contexts.model import Context, Outcome, Step, StepType
from services.memory.contexts.owner import Owner
from services.memory.scopes import Json, Snapshot
from services.memory.scopes import rows as keys
from services.memory.scopes.values import to_json

T = TypeVar("T")

KEPT_SECONDS = 7 * 86_400.0
"""How long what can be resumed is kept."""

_DIED = "Pinfold ended while it ran"


def new_id() -> str:
    """Make the id of a context, a step or an owner."""
    return str(uuid.uuid4())


class Contexts:
    """The contexts of a home.

    A step is on disk, with a copy of its context's keys, before the work it stands for begins, so that a process killed
    at any point leaves what the next can resume from.

    Args:
        database: Where they are kept.
        directory: For the locks that tell whose process still lives.
        calls: Threads for blocking calls.
        now: The clock, nanoseconds since 1970.
        make_id: Makes ids that are never given twice.
    """

    def __init__(
        self,
        database: Database,
        directory: Path,
        calls: BlockingCalls,
        now: Callable[[], int] = time.time_ns,
        make_id: Callable[[], str] = new_id,
    ) -> None:
        self._database = database
        self._calls = calls
        self._now = now
        self._make_id = make_id
        self._owner = Owner(directory, make_id())

    async def open(self, *, agent: str = "", chat: str = "", request: str = "") -> Context:
        """Open an empty context for a request.

        Args:
            agent: The alias of who works in it.
            chat: What its steps are found by later.
            request: The same.
        """
        return await self._insert(lambda _: self._new(agent=agent, chat=chat, request=request))

    async def fork(self, context: str, *, copy: bool = True) -> Context:
        """Open a context for a branch of the work; it ends with its parent at the latest.

        Args:
            context: The parent.
            copy: Begin with the parent's keys as they are now, each with the time it has left; else empty.

        Raises:
            NothingThere: There is no such context.
            StepRefused: It has ended.
        """

        def made(connection: sqlite3.Connection) -> Context:
            parent = rows.open_context(connection, context)
            step = rows.innermost(connection, parent)
            fork = self._new(parent.id, step, agent=parent.agent, chat=parent.chat, request=parent.request)
            if copy:
                now = self._now()
                keys.put_kept(connection, fork.scope, keys.snapshot_of(connection, parent.scope, now).entries, now)
            return fork

        return await self._insert(made)

    async def release(self, context: str, outcome: Outcome = "completed", error: str = "") -> None:
        """End a context and its forks and delete their keys, and no others.

        After `completed` nothing of it is left. Else its running steps end likewise and can be resumed.

        Raises:
            NothingThere: There is no such context.
            StepRefused: It has ended.
        """

        def job(connection: sqlite3.Connection) -> None:
            rows.open_context(connection, context)
            rows.end_context(connection, context, outcome, error, self._now())

        await self._database.write(job)

    async def get(self, context: str) -> Context:
        """Read a context.

        Raises:
            NothingThere: It was never opened, or ended well.
        """
        return await self._database.read(lambda connection: rows.get_context(connection, context))

    async def all(self) -> list[Context]:
        """Read the contexts that are open or can be resumed, oldest first."""
        await self.recover()
        return await self._database.read(rows.all_contexts)

    async def begin(self, context: str, type: StepType, given: Json = None, *, inside: str = "") -> Step:
        """Start a step; once this returns it is on disk with a copy of the context's keys.

        Args:
            context: An open one.
            type: What the step does.
            given: Its input.
            inside: The step it runs inside, for steps side by side; else the one started last that still runs.

        Raises:
            NothingThere: There is no such context, or no step `inside`.
            StepRefused: The context has ended.
            InputRefused: The input is not JSON, or too large.
        """
        text = to_json(given)
        step = self._make_id()

        def job(connection: sqlite3.Connection) -> Step:
            found = rows.open_context(connection, context)
            return rows.insert_step(connection, step, found, type, text, inside, self._now())

        return await self._database.write(job)

    async def complete(self, step: str, output: Json = None) -> Step:
        """End a step that did what it should.

        Raises:
            NothingThere: There is no such step.
            StepRefused: It has ended.
            InputRefused: The output is not JSON, or too large.
        """
        return await self._end(step, "completed", to_json(output), "")

    async def fail(self, step: str, error: str) -> Step:
        """End a step that could not; see `complete`."""
        return await self._end(step, "failed", None, error)

    async def interrupt(self, step: str, why: str = "") -> Step:
        """End a step that was stopped; see `complete`."""
        return await self._end(step, "interrupted", None, why)

    @asynccontextmanager
    async def step(
        self, context: str, type: StepType, given: Json = None, *, inside: str = ""
    ) -> AsyncGenerator[Step, None]:
        """Run a block as one step: it fails with the block's error, is interrupted with its task, else completes."""
        step = await self.begin(context, type, given, inside=inside)
        try:
            yield step
        except asyncio.CancelledError:
            await self.interrupt(step.id, "cancelled")
            raise
        except Exception as error:
            await self.fail(step.id, str(error) or error.__class__.__name__)
            raise
        await self.complete(step.id)

    async def steps(self, *, chat: str = "", request: str = "", stack: str = "", context: str = "") -> list[Step]:
        """Read steps in the order they started; what is not given is any."""
        await self.recover()
        return await self._steps(chat, request, stack, context, resumable=False)

    async def path(self, step: str) -> list[Step]:
        """Read the steps a step runs inside, the outermost first, and itself.

        Raises:
            NothingThere: There is no such step.
        """
        return await self._database.read(lambda connection: rows.path_to(connection, step))

    async def snapshot(self, step: str) -> Snapshot:
        """Read what was in a step's context when it started.

        Raises:
            NothingThere: There is no such step, or it is completed.
        """
        return await self._database.read(lambda connection: rows.snapshot_at(connection, step))

    async def resumable(self, *, chat: str = "", request: str = "", context: str = "") -> list[Step]:
        """Read the steps that failed or were interrupted, by a dead process too, and were not resumed; oldest first."""
        await self.recover()
        return await self._steps(chat, request, "", context, resumable=True)

    async def resume(self, step: str) -> Context:
        """Open a context with the keys that the step's context had when the step started, with the times they had left.

        The step and those it ran inside are marked used; they are resumed once.

        Raises:
            NothingThere: There is no such step.
            StepRefused: It still runs, is completed, or was resumed before.
        """
        await self.recover()

        def made(connection: sqlite3.Connection) -> Context:
            path = rows.path_to(connection, step)
            found = path[-1]
            if not found.resumable:
                why = f"it is {found.state}" if found.used_at is None else "it was resumed before"
                raise StepRefused(f"step {step} cannot be resumed", why=why)
            before = rows.get_context(connection, found.context)
            context = self._new(resumes=step, agent=before.agent, chat=before.chat, request=before.request)
            keys.put_kept(connection, context.scope, rows.snapshot_at(connection, step).entries, self._now())
            rows.mark_used(connection, path, self._now())
            return context

        return await self._insert(made)

    async def forget(self, chat: str) -> int:
        """Take the ended steps of a chat out of sight, and count them; they are deleted for good later."""
        await self.recover()
        return await self._database.write(lambda connection: rows.mark_deleted(connection, chat, self._now()))

    async def recover(self) -> int:
        """End the contexts of processes that are gone, as interrupted, and count them."""
        count = 0
        for owner in await self._database.read(rows.owners):
            if await self._calls.run(self._owner.is_gone, owner):
                count += await self._end_all_of(owner)
        return count

    async def sweep(self) -> int:
        """Delete what has been kept long enough, and count the contexts."""
        await self.recover()
        time = self._now() - int(KEPT_SECONDS * 1_000_000_000)
        return await self._database.write(lambda connection: rows.delete_ended_before(connection, time))

    async def close(self) -> None:
        """Leave; contexts that are still open are interrupted for whoever looks next."""
        await self._calls.run(self._owner.leave)

    def _new(
        self, parent: str = "", forked_in: str = "", resumes: str = "", *, agent: str, chat: str, request: str
    ) -> Context:
        now = self._now()
        return Context(self._make_id(), parent, forked_in, resumes, agent, chat, request, "open", now, None)

    async def _insert(self, made: Callable[[sqlite3.Connection], Context]) -> Context:
        await self._calls.run(self._owner.appear)

        def job(connection: sqlite3.Connection) -> Context:
            context = made(connection)
            rows.insert_context(connection, context, self._owner.id)
            return context

        return await self._database.write(job)

    async def _end(self, step: str, outcome: Outcome, output: str | None, error: str) -> Step:
        return await self._database.write(
            lambda connection: rows.end_step(connection, step, outcome, output, error, self._now())
        )

    async def _end_all_of(self, owner: str) -> int:
        return await self._database.write(lambda connection: rows.end_all_of(connection, owner, _DIED, self._now()))

    async def _steps(self, chat: str, request: str, stack: str, context: str, *, resumable: bool) -> list[Step]:
        wanted = {"chat": chat, "request": request, "stack": stack, "context": context}
        return await self._database.read(lambda connection: rows.steps_where(connection, wanted, resumable=resumable))
