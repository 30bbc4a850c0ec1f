"""The steps of an operation as they are done, and how far those are that run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tui.figures import SECOND, duration, moment, size
from tui.glyphs import glyphs
from tui.looks import OPERATION_LOOKS
from tui.text import safe
from tui.widgets.table import Cell, Span, cell

if TYPE_CHECKING:
    from services.operations import Operation, Progress, Step

_LONGEST = 2000
_BAR = 20
_MOST = 200


def step_lines(operation: Operation, told: Mapping[int, Progress], now: int) -> Iterator[Cell]:
    """Write the steps, one line each, with what came of them.

    Args:
        operation: As journalled.
        told: What was told last of each step, by its number.
        now: Nanoseconds since 1970.
    """
    committed = False
    for step in operation.steps:
        if step.name == operation.plan.point_of_no_return and not committed:
            committed = True
            yield cell(f"  {glyphs().line * 2} point of no return", "warn" if operation.committed else "muted")
        yield _line(step, now)
        progress = told.get(step.number)
        if step.state == "running" and progress is not None and (progress.total or progress.note != step.text):
            yield cell(f"       {amount_done(progress)}", "accent")
        elif step.detail:
            yield cell(f"       {safe(step.detail[:_LONGEST])}", "bad" if step.state == "failed" else "muted")
    if operation.detail:
        yield cell("")
        tone = OPERATION_LOOKS[operation.state.value][1]
        yield cell(safe(operation.detail[:_LONGEST]), "bad" if operation.state.value == "failed" else tone)
    for warning in operation.warnings[:_MOST]:
        yield (Span(f"{glyphs().warning} ", "warn"), Span(safe(warning[:_LONGEST])))


def _line(step: Step, now: int) -> Cell:
    sign, tone = OPERATION_LOOKS[step.state]
    took = ""
    if step.started_at is not None:
        took = duration(((step.ended_at or now) - step.started_at) / SECOND)
    return (
        Span(f"  {step.number:>2} ", "muted"),
        Span(f"{getattr(glyphs(), sign)} {step.state:<9} ", tone),
        Span(safe(step.text[:_LONGEST]), "" if step.state != "waiting" else "muted"),
        Span(f"  {took}" if took else "", "muted"),
    )


def amount_done(progress: Progress) -> str:
    """What is being done and how far: a bar where the end is known; clean."""
    note = safe(progress.note[:_LONGEST])
    counts = _counts(progress)
    if not progress.total:
        return f"{note}  {counts}" if progress.done else note
    return f"{bar(progress.done, progress.total)}  {counts}  {note}"


def bar(done: int, total: int, width: int = _BAR) -> str:
    """Draw how much of something is done."""
    filled = min(max(done * width // max(total, 1), 0), width)
    full, free = ("#", ".") if glyphs().ascii else ("█", "░")
    return full * filled + free * (width - filled)


def _counts(progress: Progress) -> str:
    if progress.unit == "bytes":
        return f"{size(progress.done)} of {size(progress.total)}" if progress.total else size(progress.done)
    total = f" of {progress.total:,}" if progress.total else ""
    return f"{progress.done:,}{total} {progress.unit}".rstrip()


def summary(operation: Operation) -> str:
    """An operation in a clause: `delete worker`, `rename worker to helper`; clean."""
    to = {"rename": " to ", "restore": " as "}.get(operation.kind, "")
    target = f"{to}{safe(operation.target)}" if operation.target and to else ""
    return f"{operation.kind} {safe(operation.alias)}{target}"


def since(operation: Operation) -> str:
    """When it began and ended, written out."""
    ended = f" {glyphs().dash} {moment(operation.ended_at)}" if operation.ended_at is not None else ""
    return f"{moment(operation.created_at)}{ended}"
