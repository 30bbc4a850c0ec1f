"""Plans shown and operations run from the command line: the plan first, progress on a terminal's standard error."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from services.archives import Done, Work
from services.errors import OperationRefused
from tui.figures import middle
from tui.text import safe
from tui.verbs.operations.documents import OperationDocument, PlanDocument

if TYPE_CHECKING:
    from services.operations import Operation, Plan, Progress
    from tui.looks import Tone
    from tui.verbs.call import Call

T = TypeVar("T")

_TONES: dict[str, Tone] = {"+": "good", "-": "bad", "@": "muted"}
_WIDTH = 78


class ProgressLine:
    """One line on a terminal's standard error that is drawn over; nothing where that is none."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()

    def show(self, text: str) -> None:
        """Draw over what was there."""
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{middle(safe(text), _WIDTH)}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Leave no trace."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def show_plan(call: Call, plan: Plan) -> None:
    """Print a plan, as text or as JSON."""
    from services.operations import described

    if call.json:
        call.printer.document(PlanDocument.of(plan))
        return
    for line in described(plan):
        call.printer.line(line, _TONES.get(line[2:3], "") if line.startswith("  ") else "")


def refuse(plan: Plan) -> None:
    """Refuse a plan that cannot be carried out; what is in its way was shown with it.

    Raises:
        OperationRefused: Something is in its way.
    """
    if not plan.allowed:
        reasons = "; ".join(blocker.reason for blocker in plan.blockers)
        fix = next((blocker.fix for blocker in plan.blockers if blocker.fix), "")
        raise OperationRefused(f"cannot {plan.kind} {plan.subject}", why=reasons, fix=fix)


async def run_to_end(call: Call, progress: AsyncGenerator[Progress, None]) -> Operation:
    """Carry out an operation, show how far it is, and print what came of it."""
    operation = None
    line = ProgressLine()
    try:
        async with aclosing(progress) as told:
            async for now in told:
                operation = now.operation
                if now.leading:
                    line.show(_written(now))
    finally:
        line.clear()
    assert operation is not None  # the last item shows how it ended
    if call.json:
        call.printer.document(OperationDocument.of(operation))
        return operation
    for warning in operation.warnings:
        call.printer.line(f"note: {warning}", "warn")
    call.printer.line(_ended(operation), "good")
    return operation


async def work_to_end(work: Work[T], doing: str) -> T:
    """Do some work on an archive, show how far it is, and return what came of it."""
    line = ProgressLine()
    try:
        async with aclosing(work) as told:
            async for now in told:
                if isinstance(now, Done):
                    return now.result
                line.show(f"{doing} {now.doing} {_share(now.size, now.total_size)}")
    finally:
        line.clear()
    raise AssertionError("the work ended without a result")


def _written(progress: Progress) -> str:
    counts = f" {progress.done:,}" if progress.done else ""
    counts += f" of {progress.total:,}" if progress.done and progress.total else ""
    return f"{progress.note}{counts} {progress.unit if counts else ''}".rstrip()


def _share(done: int, total: int) -> str:
    return f"{done * 100 // total}%" if total else ""


def _ended(operation: Operation) -> str:
    match operation.kind:
        case "rename":
            return f"renamed {operation.alias} to {operation.target}"
        case "delete":
            return f"deleted {operation.alias}; all of it is in the archive {operation.archive}"
        case _:
            return f"restored {operation.target} from the archive {operation.archive}"
