"""Verbs on the whole memory of an agent: moving it to another back-end, and tidying it."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING

import click
import msgspec

from services.errors import InputRefused
from tui.figures import counted
from tui.verbs.call import Call, verb

if TYPE_CHECKING:
    from services.memory import MovePlan, MoveProgress, Pruned

_STAGES = {
    "copy": "copied",
    "verify": "read back and compared",
    "switch": "switched over",
    "remove": "removing them where they were",
}


class MoveDocument(msgspec.Struct, frozen=True):
    """One step of a move: `plan` first, then copy, verify, switch, remove and done with how many memories went."""

    step: str
    alias: str
    source: str
    target: str
    rows: int
    total: int


class CancelledDocument(msgspec.Struct, frozen=True):
    """A move that was given up; `removed` copies are gone."""

    alias: str
    removed: int


class HygieneDocument(msgspec.Struct, frozen=True):
    """What hygiene removed, or would remove: memories by category, and bytes of their content."""

    alias: str
    dry_run: bool
    rows: dict[str, int]
    total: int
    size: int


@click.command("move")
@verb
@click.argument("alias")
@click.option("--to", "target", required=True, metavar="BACKEND", help="sqlite, markdown, postgres, qdrant or lucid.")
@click.option("--dry-run", is_flag=True, help="Only say what would be moved.")
@click.option("--cancel", is_flag=True, help="Give up a move that was interrupted; what it copied is removed.")
async def move(call: Call, alias: str, target: str, dry_run: bool, cancel: bool) -> None:
    """Move the memory of the agent ALIAS to another back-end, and let its agent.toml say so.

    Everything is copied, read back and compared before the agent is switched over, and only then removed where it was.
    A move that was interrupted goes on with the same command. With --json every step is a line.
    """
    async with call.pinfold(supervise=False) as pinfold:
        mover = pinfold.agent_memories.mover(alias, target)
        if cancel:
            removed = await mover.cancel()
            _print_cancelled(call, alias, removed)
            return
        plan = await mover.plan()
        _print_plan(call, plan, dry_run=dry_run)
        if dry_run:
            return
        async with aclosing(mover.run()) as moving:
            last: MoveProgress | None = None
            async for progress in moving:
                if call.json:
                    _print_document(call, plan, progress.stage, progress.rows, progress.total)
                elif last is not None and last.stage != progress.stage:
                    _print_stage(call, last)
                last = progress


@click.command("hygiene")
@verb
@click.argument("alias")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option(
    "--keep",
    "days",
    multiple=True,
    metavar="CATEGORY=DAYS",
    help="Keep a category for so many days, 0 being for ever; else as [memory.retention] of pinfold.toml says.",
)
async def hygiene(call: Call, alias: str, dry_run: bool, days: tuple[str, ...]) -> None:
    """Remove what the agent ALIAS remembers longer than its category is kept; what is pinned stays."""
    from services.memory import Retention

    async with call.pinfold(supervise=False) as pinfold:
        kept = {**pinfold.agents.shared.memory.retention.days, **dict(map(_read_days, days))}
        memory = pinfold.agent_memories.of(alias)
        pruned = await memory.tidy(Retention(kept), time.time_ns(), dry_run=dry_run)
    _print_pruned(call, alias, pruned, dry_run=dry_run)


def _read_days(text: str) -> tuple[str, float]:
    category, _, days = text.partition("=")
    try:
        return category, float(days)
    except ValueError as error:
        raise InputRefused(f"{text!r} is no retention", fix="Write it as daily=30.") from error


def _print_plan(call: Call, plan: MovePlan, *, dry_run: bool) -> None:
    if call.json:
        _print_document(call, plan, "plan", 0, plan.rows)
        return
    rows = counted(plan.rows, "memory", "memories")
    begins = "goes on: " if plan.resumed else ""
    would = "would be moved" if dry_run else "to move"
    call.printer.line(f"{begins}{rows} of {plan.alias} {would} from {plan.source} to {plan.target}")
    if plan.there:
        call.printer.line(f"beside {counted(plan.there, 'memory', 'memories')} there already", "muted")


def _print_document(call: Call, plan: MovePlan, step: str, rows: int, total: int) -> None:
    call.printer.json_lines([MoveDocument(step, plan.alias, plan.source, plan.target, rows, total)])


def _print_stage(call: Call, progress: MoveProgress) -> None:
    said = _STAGES[progress.stage]
    call.printer.line(said if progress.stage == "remove" else f"{progress.rows:,} {said}")


def _print_cancelled(call: Call, alias: str, removed: int) -> None:
    if call.json:
        call.printer.document(CancelledDocument(alias, removed))
    else:
        call.printer.line(f"given up; {counted(removed, 'copy', 'copies')} removed")


def _print_pruned(call: Call, alias: str, pruned: Pruned, *, dry_run: bool) -> None:
    if call.json:
        call.printer.document(HygieneDocument(alias, dry_run, dict(pruned.rows), pruned.total, pruned.size))
        return
    counts = ", ".join(f"{count} {category}" for category, count in sorted(pruned.rows.items()))
    would = "would be removed" if dry_run else "removed"
    rows = counted(pruned.total, "memory", "memories")
    call.printer.line(f"{rows} {would}{f': {counts}, {pruned.size:,} bytes' if counts else ''}")


VERBS = (move, hygiene)
"""In the order of the help."""
