"""A plan, line by line: what is in the way, what it does, and from where on it cannot be taken back."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from tui.figures import counted, from_home, size
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe
from tui.widgets.table import Cell, Span, cell

if TYPE_CHECKING:
    from services.operations import Effect, Plan, Reference, Rewrite

_MOST = 500
_LONGEST = 2000
_ACTION = 10
_INDENT = 6
_NARROWEST = 30

_FATES = {"rename": "rewritten", "delete": "dropped"}
"""What becomes of a soft reference, by the kind of operation."""


def plan_lines(plan: Plan, width: int) -> Iterator[Cell]:
    """Write a plan; what is foreign in it is cleaned here.

    Args:
        plan: The plan.
        width: Columns of the terminal; what is in the way is wrapped to them.
    """
    if plan.resumes:
        yield cell(f"Goes on with operation {safe(plan.resumes)}, which was interrupted.", "warn")
    if plan.blockers:
        yield cell("IN THE WAY", "muted")
        for blocker in plan.blockers[:_MOST]:
            sign = f"  {glyphs().failed} "
            for number, line in enumerate(_wrapped(blocker.reason, width)):
                yield (Span(" " * len(sign) if number else sign, "bad"), Span(line, "bad"))
            for line in _wrapped(blocker.fix, width):
                yield cell(f"{' ' * len(sign)}{line}", "muted")
        yield cell("")
    yield from _references(plan)
    if plan.effects:
        yield cell("WHAT HAPPENS", "muted")
        yield from map(_effect, plan.effects[:_MOST])
        yield cell("")
    for note in plan.notes[:_MOST]:
        for number, line in enumerate(_wrapped(note, width)):
            yield (Span("  " if number else f"{glyphs().warning} ", "warn"), Span(line))
    yield from _steps(plan)
    if plan.rewrites:
        yield cell("WHAT FILES WILL SAY", "muted")
    for rewrite in plan.rewrites[:_MOST]:
        yield from _rewrite(rewrite)


def commitment(plan: Plan) -> str:
    """Until when it can be stopped, clean; "" for one that can be at any time."""
    step = next((step for step in plan.steps if step.name == plan.point_of_no_return), None)
    if step is None:
        return ""
    return f"Point of no return: {safe(step.text[:_LONGEST])}. Until there it can be stopped."


def _references(plan: Plan) -> Iterator[Cell]:
    if plan.kind == "restore" or not plan.references:
        return
    yield cell("WHAT NAMES IT, AND WHAT IS ITS OWN", "muted")
    blocking = {blocker.reason for blocker in plan.blockers}
    rewritten = {(rewrite.file, change.line) for rewrite in plan.rewrites for change in rewrite.changes}
    for reference in plan.references[:_MOST]:
        fate = _fate(plan, reference, reference.text in blocking, (reference.file, reference.line) in rewritten)
        yield reference_line(reference, *fate)
    if len(plan.references) > _MOST:
        yield cell(f"  and {len(plan.references) - _MOST:,} more", "muted")
    yield cell("")


def _fate(plan: Plan, reference: Reference, blocks: bool, rewritten: bool) -> tuple[str, Tone]:
    if blocks:
        return "blocks", "bad"
    if rewritten:
        return _FATES[plan.kind], "accent"
    if reference.kind == "session" and reference.hard:
        return "stopped", "warn"
    if reference.file:
        return "stays", "muted"
    return ("follows", "muted") if plan.kind == "rename" else ("kept", "muted")


def reference_line(reference: Reference, fate: str, tone: Tone) -> Cell:
    """One reference: what becomes of it, what it is, and where it stands."""
    place = place_of(reference)
    value = f" ({_clean(reference.value)})" if reference.value else ""
    return (
        Span(f"  {fate:<{_ACTION}} ", tone),
        Span(f"{_clean(reference.text)}{value}"),
        Span(f"  {place}" if place else "", "muted"),
    )


def place_of(reference: Reference) -> str:
    """The file and line a reference stands in, clean; "" when it stands in none."""
    if not reference.file:
        return ""
    name = f"{reference.owner}/agent.toml" if reference.owner else "pinfold.toml"
    return _clean(f"{name}:{reference.line}" if reference.line else name)


def _rewrite(rewrite: Rewrite) -> Iterator[Cell]:
    yield cell(_clean(from_home(rewrite.file)), "strong")
    for line in rewrite.diff[2:_MOST]:
        tone: Tone = {"+": "good", "-": "bad"}.get(line[:1], "muted")  # type: ignore[assignment]
        yield cell(f"  {_clean(line)}", tone)
    yield cell("")


def _effect(effect: Effect) -> Cell:
    amounts = [
        counted(effect.files, "file") if effect.files else "",
        counted(effect.rows, "row") if effect.rows else "",
        size(effect.size) if effect.size else "",
    ]
    amount = ", ".join(part for part in amounts if part)
    arrow = "->" if glyphs().ascii else "→"
    place = f" {arrow} ".join(_clean(from_home(part)) for part in (effect.source, effect.target) if part)
    tone: Tone = "warn" if effect.action in ("removed", "stopped", "dropped") else "accent"
    return (
        Span(f"  {effect.action:<{_ACTION}} ", tone),
        Span(_clean(effect.what)),
        Span(f"  {amount}" if amount else "", "strong"),
        Span(f"  {place}" if place else "", "muted"),
    )


def _steps(plan: Plan) -> Iterator[Cell]:
    if not plan.steps:
        return
    yield cell("STEPS", "muted")
    committed = False
    for number, step in enumerate(plan.steps, start=1):
        if step.name == plan.point_of_no_return and not committed:
            committed = True
            line = glyphs().line * 2
            yield cell(f"  {line} point of no return: from here on it can only be completed", "warn")
        yield (Span(f"  {number:>2} ", "muted"), Span(_clean(step.text)))
    yield cell("")


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(_clean(from_home(text)), max(width - _INDENT, _NARROWEST))


def _clean(text: str) -> str:
    return safe(text[:_LONGEST])
