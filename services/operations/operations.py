"""The operations of a home: planned, carried out, looked at and retried."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, aclosing
from datetime import UTC, datetime

import msgspec

from services.activity import ActivityLog
from services.errors import OperationRefused
from services.operations import deleting, purging, renaming, restoring, reviving
from services.operations.house import House
from services.operations.journal import Journal
from services.operations.model import (
    Kind,
    Operation,
    OperationState,
    Options,
    Part,
    Plan,
    Progress,
    Reference,
    Step,
)
from services.operations.rewriting import check_still
from services.operations.running import Attempt, Course, take_locks

_COURSES: Mapping[Kind, Course] = {"rename": renaming.COURSE, "delete": purging.COURSE, "restore": reviving.COURSE}

_TOLD_SECONDS = 0.05

NewId = Callable[[int], str]
"""Makes an operation's id from the time, nanoseconds since 1970."""


def new_operation_id(now: int) -> str:
    """Make an id that sorts by time: `20261130-140700-k3f`."""
    moment = datetime.fromtimestamp(now / 1e9, UTC)
    letters = "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz23456789") for _ in range(4))
    return f"{moment:%Y%m%d-%H%M%S}-{letters}"


class Operations:
    """Renames, deletes and restores agents.

    Planning changes nothing. Whatever is carried out is journalled first, so that it can be completed from any point at
    which it was killed: by `retry`, or by planning and carrying out the same again.

    Args:
        house: What operations work with.
        activity: Told of operations that were found unfinished.
        new_id: Makes ids.
    """

    def __init__(self, house: House, activity: ActivityLog, new_id: NewId = new_operation_id) -> None:
        self._house = house
        self._activity = activity
        self._new_id = new_id

    @property
    def _journal(self) -> Journal:
        return self._house.journal

    # --- planning

    async def references(self, alias: str) -> tuple[Reference, ...]:
        """List every place that names an agent and all that is its own, the hard ones first."""
        return (await self._house.facts(alias)).references

    async def plan_rename(self, alias: str, target: str, *, stop_sessions: bool = False) -> Plan:
        """Plan to give an agent another alias.

        Args:
            alias: The agent.
            target: Its new alias.
            stop_sessions: Stop its running sessions first; without it they are in the way.
        """
        return await self._plan("rename", alias, target, "", Options(stop_sessions=stop_sessions))

    async def plan_delete(self, alias: str, *, keep_workspace: bool = False) -> Plan:
        """Plan to delete an agent and to keep all that is its own in an archive.

        Args:
            alias: The agent.
            keep_workspace: Leave a workspace outside the agent's directory where it is; the archive has a copy.
        """
        return await self._plan("delete", alias, "", "", Options(keep_workspace=keep_workspace))

    async def plan_restore(
        self,
        archive: str,
        *,
        alias: str = "",
        part: Part = "agent",
        path: str = "",
        overwrite: bool = False,
        references: Sequence[str] = (),
    ) -> Plan:
        """Plan to bring back what an archive keeps.

        Args:
            archive: Its id.
            alias: Whose it is to be; "" is the alias the agent had. A part needs an agent that is there.
            part: What is restored.
            path: For `files`: the file or folder, as it is called in the archive; "" is the whole workspace.
            overwrite: Replace what is there; without it that is in the way.
            references: The dropped references to put back, such as `lead:agent.delegates[0]`; `*` is all.
        """
        options = Options(part=part, path=path, overwrite=overwrite, references=tuple(references))
        return await self._plan("restore", "", alias, archive, options)

    async def _plan(self, kind: Kind, alias: str, target: str, archive: str, options: Options) -> Plan:
        """Make a plan, or find the one of an operation that was interrupted on the way."""
        for operation in await self._journal.unfinished():
            same = (operation.kind, operation.alias, operation.target) == (kind, alias, target)
            if kind == "restore":
                same = (operation.archive, operation.plan.options) == (archive, options)
                same = same and target in ("", operation.target)
            if same and operation.committed:
                if operation.state is OperationState.RUNNING:
                    break
                return msgspec.structs.replace(operation.plan, resumes=operation.id, blockers=())
        return await self._planner(kind)(alias, target, archive, options)

    def _planner(self, kind: Kind) -> Callable[[str, str, str, Options], Awaitable[Plan]]:
        async def rename(alias: str, target: str, _: str, options: Options) -> Plan:
            return await renaming.plan_rename(self._house, alias, target, options)

        async def delete(alias: str, _: str, __: str, options: Options) -> Plan:
            return await deleting.plan_delete(self._house, alias, options)

        async def restore(_: str, target: str, archive: str, options: Options) -> Plan:
            return await restoring.plan_restore(self._house, archive, target, options)

        return {"rename": rename, "delete": delete, "restore": restore}[kind]

    # --- carrying out

    async def carry_out(self, plan: Plan, *, actor: str = "operator") -> AsyncGenerator[Progress, None]:
        """Carry out a plan, telling how far it is at least every 100 ms; the last item shows the operation done.

        Leaving the iteration early cancels it before its point of no return; after that it is left to a retry.

        Raises:
            OperationRefused: Something is in its way by now; names all of it.
            FileConflict: A file changed since the plan was made.
            PinfoldError: A step failed; the operation is journalled as failed with the reason.
        """
        if plan.resumes:
            async with aclosing(self.retry(plan.resumes)) as resumed:
                async for told in resumed:
                    yield told
            return
        _refuse(plan)
        operation = self._drafted(plan, actor)
        async with aclosing(self._begun(operation, lambda: self._begin(operation))) as progress:
            async for told in progress:
                yield told

    async def _begun(
        self, operation: Operation, begin: Callable[[], Awaitable[Operation]]
    ) -> AsyncGenerator[Progress, None]:
        """Take the locks, begin, and carry out, telling from the first moment on."""
        locks = ExitStack()

        async def locked() -> Operation:
            locks.enter_context(await take_locks(self._house, operation.id, operation.concerns))
            return await begin()

        beginning = asyncio.create_task(locked())
        try:
            while not (await asyncio.wait({beginning}, timeout=_TOLD_SECONDS))[0]:
                yield Progress(operation=operation, note="looking at everything again")
            journalled = beginning.result()
        except BaseException:
            beginning.cancel()
            await asyncio.wait({beginning})
            locks.close()
            raise
        async with aclosing(self._attempt(journalled, locks)) as progress:
            async for told in progress:
                yield told

    async def _begin(self, operation: Operation) -> Operation:
        """Plan again under the locks, and journal it when that is what the operator was shown."""
        plan = operation.plan
        fresh = await self._plan(plan.kind, plan.alias, plan.target, plan.archive, plan.options)
        await self._check_still(plan, fresh)
        await self._set_aside(plan.alias)
        journalled = self._drafted(fresh, operation.by, operation.id)
        await self._journal.begin(journalled)
        return journalled

    async def retry(self, operation: str) -> AsyncGenerator[Progress, None]:
        """Complete an operation that failed or was interrupted; one that changed nothing yet is planned anew.

        Raises:
            OperationNotFound: There is none of this id.
            OperationRefused: It is not one that waits for a retry, or something is in its way.
            PinfoldError: A step failed again.
        """
        found = await self._journal.get(operation)
        if not found.state.retryable:
            raise OperationRefused(f"operation {found.id} cannot be retried", why=f"it is {found.state.value}")
        async with aclosing(self._begun(found, lambda: self._take_up(found.id))) as progress:
            async for told in progress:
                yield told

    async def _take_up(self, operation: str) -> Operation:
        found = await self._journal.get(operation)
        if found.state is OperationState.DONE:
            raise OperationRefused(f"operation {found.id} cannot be retried", why="it is done")
        if found.committed:
            await self._journal.take_up(found.id)
        else:
            await self._start_over(found)
        return await self._journal.get(found.id)

    async def _set_aside(self, alias: str) -> None:
        """Close what was interrupted before it changed anything, since something else is asked for now."""
        for operation in await self._journal.unfinished():
            if operation.alias == alias and operation.state.retryable and not operation.committed:
                await _COURSES[operation.kind].undo(self._house, operation)
                await self._journal.finish(operation, OperationState.CANCELLED, "another operation took its place")

    async def _start_over(self, found: Operation) -> None:
        await self._journal.pause(found.id)
        await _COURSES[found.kind].undo(self._house, found)
        archive = found.archive if found.kind == "restore" else ""
        plan = await self._planner(found.kind)(found.alias, found.target, archive, found.plan.options)
        _refuse(plan)
        await self._journal.start_over(found, plan, _waiting(plan))

    def _attempt(self, operation: Operation, locks: ExitStack) -> AsyncGenerator[Progress, None]:
        return Attempt(self._house, _COURSES[operation.kind], operation, locks).progress()

    def _drafted(self, plan: Plan, actor: str, operation: str = "") -> Operation:
        now = self._house.now()
        return Operation(
            id=operation or self._new_id(now),
            kind=plan.kind,
            alias=plan.alias,
            target=plan.target,
            archive=plan.archive,
            by=actor,
            state=OperationState.RUNNING,
            detail="",
            warnings=(),
            committed=False,
            created_at=now,
            ended_at=None,
            plan=plan,
            steps=_waiting(plan),
        )

    async def _check_still(self, plan: Plan, fresh: Plan) -> None:
        """Refuse a plan that would do something else by now than the operator was shown."""
        _refuse(fresh)
        by_file = {rewrite.file: rewrite for rewrite in fresh.rewrites}
        for rewrite in plan.rewrites:
            check_still(rewrite, by_file.pop(rewrite.file, None))
        for rewrite in by_file.values():
            check_still(rewrite, None)

    # --- looking

    async def all(self, limit: int = 1000) -> list[Operation]:
        """Read operations, the newest first."""
        return await self._journal.all(limit)

    async def unfinished(self) -> list[Operation]:
        """Read those that are under way or wait for being retried, the oldest first."""
        return await self._journal.unfinished()

    async def get(self, operation: str) -> Operation:
        """Read one by its id, or by a unique start or end of it.

        Raises:
            OperationNotFound: None or several fit.
        """
        return await self._journal.get(operation)

    async def held_by(self, alias: str) -> str:
        """Say which operation has to be completed before a session of an agent may start; "" when none has."""
        holder = await self._journal.holding(alias)
        if holder is None:
            return ""
        todo = f"; `pinfold operations retry {holder.id}` completes it" if holder.state.retryable else ""
        return f"operation {holder.id}, a {holder.kind} of {holder.alias}, is {holder.state.value}{todo}"

    async def report_unfinished(self) -> None:
        """Say in the activity log, once an operation, which ones were interrupted; none is run without being asked."""
        for operation in await self._journal.unfinished():
            if operation.state is not OperationState.INTERRUPTED:
                continue
            known = await self._activity.recent(agent=operation.alias)
            if not any(entry.verb == "operation.interrupted" and operation.id in entry.detail for entry in known):
                await self._activity.record(
                    "operation.interrupted",
                    actor="pinfold",
                    agent=operation.alias,
                    outcome="failed",
                    detail=f"{operation.kind} {operation.id}; `pinfold operations retry {operation.id}` completes it",
                )


def _waiting(plan: Plan) -> tuple[Step, ...]:
    return tuple(
        Step(number=number, name=step.name, text=step.text, subject=step.subject)
        for number, step in enumerate(plan.steps, start=1)
    )


def _refuse(plan: Plan) -> None:
    if plan.blockers:
        what = f"cannot {plan.kind} {plan.subject}"
        fixes = " ".join(dict.fromkeys(blocker.fix for blocker in plan.blockers if blocker.fix))
        raise OperationRefused(what, why="; ".join(blocker.reason for blocker in plan.blockers), fix=fixes)
