"""Plans as text: what an operator reads before anything is done."""

from __future__ import annotations

from collections.abc import Iterator

from services.operations.model import Effect, Plan

_WORDS = {"rename": "Rename", "delete": "Delete", "restore": "Restore"}


def described(plan: Plan) -> tuple[str, ...]:
    """Write a plan in lines; what is foreign in it is not cleaned."""
    return tuple(_lines(plan))


def _lines(plan: Plan) -> Iterator[str]:
    yield _title(plan)
    if plan.resumes:
        yield f"goes on with operation {plan.resumes}, which was interrupted"
    if plan.blockers:
        yield ""
        yield "In the way:"
        for blocker in plan.blockers:
            yield f"  {blocker}"
    if plan.references:
        yield ""
        yield "What names it, and what is its own:"
        for reference in plan.references:
            place = f"  {reference.file}:{reference.line}" if reference.line else ""
            hard = "hard" if reference.hard else "soft"
            yield f"  {hard}  {reference.text}{f' ({reference.value})' if reference.value else ''}{place}"
    for rewrite in plan.rewrites:
        yield ""
        yield rewrite.file
        yield from (f"  {line}" for line in rewrite.diff[2:])
    if plan.effects:
        yield ""
        yield "What happens:"
        for effect in plan.effects:
            yield f"  {_effect(effect)}"
    if plan.notes:
        yield ""
        yield from (f"Note: {note}" for note in plan.notes)
    if plan.steps:
        yield ""
        yield "Steps:"
        for number, step in enumerate(plan.steps, start=1):
            last = "  <- from here on it can only be completed" if _commits(plan, number) else ""
            yield f"  {number}. {step.text}{last}"


def _title(plan: Plan) -> str:
    to = f" as {plan.target}" if plan.kind == "restore" else f" to {plan.target}"
    return f"{_WORDS[plan.kind]} {plan.alias}{to if plan.target else ''}"


def _commits(plan: Plan, number: int) -> bool:
    names = [step.name for step in plan.steps]
    return plan.point_of_no_return in names and names.index(plan.point_of_no_return) + 1 == number


def _effect(effect: Effect) -> str:
    counts = [
        f"{effect.files:,} files" if effect.files else "",
        f"{effect.rows:,}" if effect.rows else "",
        _size(effect.size) if effect.size else "",
    ]
    amount = ", ".join(count for count in counts if count)
    place = " -> ".join(place for place in (effect.source, effect.target) if place)
    return f"{effect.action}: {effect.what}{f' ({amount})' if amount else ''}{f'  {place}' if place else ''}"


def _size(size: int) -> str:
    amount, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{size:,} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
