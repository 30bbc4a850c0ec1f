"""`pinfold operations`: renames, deletes and restores, what came of each step, and what is still to do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from tui.figures import ago, moment
from tui.verbs.call import Call, verb
from tui.verbs.operations.documents import OperationDocument
from tui.verbs.operations.running import run_to_end
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.operations import Operation
    from tui.looks import Tone

_COLUMNS = (
    Column("ID"),
    Column("KIND"),
    Column("AGENT", cut="middle"),
    Column("TO", cut="middle", spare=2),
    Column("STATE"),
    Column("AGE", right=True, spare=3),
    Column("ARCHIVE", spare=4),
    Column("DETAIL", cut="end", spare=1),
)
_TONES: dict[str, Tone] = {
    "waiting": "muted",
    "running": "good",
    "interrupted": "warn",
    "failed": "bad",
    "cancelled": "muted",
}


@click.group("operations")
def command() -> None:
    """List operations, show their steps, and retry those that failed or were interrupted."""


@command.command("list")
@verb
@click.option("--unfinished", is_flag=True, help="Only those that are under way or wait for a retry.")
async def list_operations(call: Call, unfinished: bool) -> None:
    """List operations, the newest first."""
    async with call.pinfold(supervise=False) as pinfold:
        operations = pinfold.operations
        found = (await operations.unfinished())[::-1] if unfinished else await operations.all()
    if call.json:
        call.printer.document([OperationDocument.of(operation) for operation in found])
    elif found:
        call.printer.table(_COLUMNS, [_row(operation) for operation in found])
    elif call.printer.terminal:
        call.printer.line("No operations.", "muted")


@command.command("show")
@verb
@click.argument("operation")
async def show_operation(call: Call, operation: str) -> None:
    """Show one operation with every step; OPERATION is its id, or a unique start or end of it."""
    async with call.pinfold(supervise=False) as pinfold:
        found = await pinfold.operations.get(operation)
    if call.json:
        call.printer.document(OperationDocument.of(found))
        return
    printer = call.printer
    printer.line(found.id, "strong")
    facts = (
        ("kind", found.kind),
        ("agent", found.alias),
        ("to", found.target),
        ("archive", found.archive),
        ("asked by", found.by),
        ("begun", moment(found.created_at)),
        ("ended", moment(found.ended_at) if found.ended_at else ""),
        ("state", found.state.value),
        ("detail", found.detail),
    )
    for name, value in facts:
        if value:
            printer.line(f"  {name:<12}  {value}")
    for warning in found.warnings:
        printer.line(f"  note          {warning}", "warn")
    printer.line()
    rows = [
        [Cell(str(step.number)), Cell(step.text), Cell(step.state, _TONES.get(step.state, "")), Cell(step.detail)]
        for step in found.steps
    ]
    printer.table((Column("", right=True), Column("STEP"), Column("STATE"), Column("DETAIL", cut="end")), rows)
    if found.state.retryable:
        printer.line()
        printer.line(f"`pinfold operations retry {found.id}` completes it.", "warn")


@command.command("retry")
@verb
@click.argument("operation")
async def retry_operation(call: Call, operation: str) -> None:
    """Complete an operation that failed or was interrupted; one that changed nothing yet is planned anew."""
    async with call.pinfold(supervise=False) as pinfold:
        found = await pinfold.operations.get(operation)
        await run_to_end(call, pinfold.operations.retry(found.id))


def _row(operation: Operation) -> list[Cell]:
    state = operation.state.value
    return [
        Cell(operation.id),
        Cell(operation.kind),
        Cell(operation.alias),
        Cell(operation.target),
        Cell(state, _TONES.get(state, "")),
        Cell(ago(operation.created_at, time.time_ns())),
        Cell(operation.archive),
        Cell(operation.detail, "muted"),
    ]
