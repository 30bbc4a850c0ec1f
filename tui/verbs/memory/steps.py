"""Verbs on the steps of work in contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.figures import moment
from tui.memory_log import log
from tui.verbs.call import Call, verb
from tui.verbs.memory.documents import StepDocument
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.memory import Step
    from tui.looks import Tone

_COLUMNS = (
    Column("STEP", cut="middle"),
    Column("TYPE"),
    Column("STATE"),
    Column("STARTED", spare=2),
    Column("CHAT", cut="middle", spare=3),
    Column("ERROR", cut="end", spare=1),
)
_TONES: dict[str, Tone] = {"running": "good", "failed": "bad", "interrupted": "warn", "completed": "muted"}


@click.command("steps")
@verb
@click.option("--chat", metavar="ID", default="", help="Only of this chat.")
@click.option("--request", metavar="ID", default="", help="Only of this request.")
@click.option("--resumable", is_flag=True, help="Only those a context can be resumed from.")
async def list_steps(call: Call, chat: str, request: str, resumable: bool) -> None:
    """List the steps of contexts that run, failed or were interrupted, in the order they started."""
    async with call.pinfold(supervise=False) as pinfold:
        contexts = pinfold.memory.contexts
        read = contexts.resumable if resumable else contexts.steps
        steps = await read(chat=chat, request=request)
    if call.json:
        call.printer.document([StepDocument.of(step) for step in steps])
    elif steps:
        call.printer.table(_COLUMNS, [_row(step) for step in steps])


@click.command("forget")
@verb
@click.argument("chat")
async def forget_steps(call: Call, chat: str) -> None:
    """Take the ended steps of a chat out of sight, and print how many those were."""
    async with call.pinfold(supervise=False) as pinfold:
        count = await pinfold.memory.contexts.forget(chat)
        await log(pinfold, "forget", chat)
    if call.json:
        call.printer.document({"chat": chat, "count": count})
    else:
        call.printer.line(str(count))


def _row(step: Step) -> list[Cell]:
    state = "resumed" if step.used_at is not None else step.state
    return [
        Cell(f"{'  ' * step.depth}{step.id}"),
        Cell(step.type),
        Cell(state, _TONES.get(state, "muted")),
        Cell(moment(step.started_at)),
        Cell(step.chat),
        Cell(step.error, "muted"),
    ]


VERBS = (list_steps, forget_steps)
"""In the order of the help."""
