"""The columns of the screen of archives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.figures import ago, size
from tui.glyphs import glyphs
from tui.looks import ARCHIVE_LOOKS, OPERATION_LOOKS
from tui.screens.archives.entries import Entry
from tui.screens.operations.steps import bar
from tui.text import safe
from tui.underway import Undertaking
from tui.widgets.table import Cell, Column, Span, cell

if TYPE_CHECKING:
    from services.operations import Operation

_BAR = 10

Checking = Callable[[str], str]
"""How far the verification of an archive is, by its id; "" when none runs."""


def entry_columns(now: Callable[[], int], checking: Checking) -> list[Column[Entry]]:
    """The columns of archives and operations, from left to right."""
    return [
        Column("alias", "AGENT", lambda e, _: cell(e.alias, "strong"), lambda e: e.alias, 10, grow=2, most=24),
        Column("kind", "KIND", lambda e, _: cell(e.kind), lambda e: e.kind, 7),
        Column("state", "STATE", lambda e, _: state_cell(e), lambda e: e.state, 13),
        Column("age", "AGE", lambda e, _: cell(ago(e.created_at, now())), lambda e: -e.created_at, 4, right=True),
        Column("size", "SIZE", lambda e, _: _size(e), lambda e: e.size, 5, right=True, drop=3),
        Column("verified", "VERIFIED", lambda e, _: _verified(e, now(), checking), None, 13, drop=4),
        Column("by", "WHO", lambda e, _: cell(e.by, "muted"), lambda e: e.by, 8, drop=2),
        Column("note", "NOTE", lambda e, _: cell(e.note, "muted"), None, 10, grow=5, drop=1),
    ]


def state_cell(entry: Entry) -> Cell:
    """Sign and word of an entry's state."""
    unfinished = entry.operation is not None and entry.operation.state.unfinished
    looks = OPERATION_LOOKS if entry.archive is None or unfinished else ARCHIVE_LOOKS
    sign, tone = looks[entry.state]
    return (Span(f"{getattr(glyphs(), sign)} {entry.state}", tone),)


def _size(entry: Entry) -> Cell:
    return cell(size(entry.size)) if entry.size else cell(glyphs().dash, "muted")


def _verified(entry: Entry, now: int, checking: Checking) -> Cell:
    archive = entry.archive
    if archive is None or archive.state.value == "purged":
        return cell(glyphs().dash, "muted")
    if running := checking(archive.id):
        return (Span(f"{glyphs().busy} {running}", "accent"),)
    if archive.verified_at is None:
        return cell("never", "muted")
    when = ago(archive.verified_at, now)
    if archive.intact:
        return (Span(f"{glyphs().done} intact {when}", "good"),)
    return (Span(f"{glyphs().failed} differs {when}", "bad"),)


def unfinished_columns(now: Callable[[], int], running: Callable[[str], Undertaking | None]) -> list[Column[Operation]]:
    """The columns of operations that are under way or wait for a retry."""
    return [
        Column("what", "OPERATION", lambda o, _: _what(o), None, 18, grow=1, most=40),
        Column("state", "STATE", lambda o, _: _operation_state(o), None, 13),
        Column("step", "STEP", lambda o, _: _step_number(o, running(o.id)), None, 5, right=True, drop=2),
        Column("doing", "DOING", lambda o, _: _doing(o, running(o.id)), None, 16, grow=4),
        Column("age", "AGE", lambda o, _: cell(ago(o.created_at, now()), "muted"), None, 4, right=True, drop=1),
    ]


def _what(operation: Operation) -> Cell:
    from tui.screens.operations.steps import summary

    return cell(summary(operation), "strong")


def _operation_state(operation: Operation) -> Cell:
    sign, tone = OPERATION_LOOKS[operation.state.value]
    return (Span(f"{getattr(glyphs(), sign)} {operation.state.value}", tone),)


def _step_number(operation: Operation, undertaking: Undertaking | None) -> Cell:
    operation = undertaking.operation or operation if undertaking is not None else operation
    step = operation.step
    return cell(f"{step.number}/{len(operation.steps)}" if step is not None else "", "muted")


def _doing(operation: Operation, undertaking: Undertaking | None) -> Cell:
    """The step that runs and how far it is; of one that failed, why."""
    if operation.state.retryable:
        return cell(safe(operation.detail[:500]) or "it was left on the way", "bad")
    progress = undertaking.progress if undertaking is not None else None
    if progress is not None and progress.step:
        drawn = f"{bar(progress.done, progress.total, _BAR)} " if progress.total else ""
        return (Span(drawn, "accent"), Span(safe(progress.note[:500])))
    step = operation.step
    return cell(safe(step.text[:500]) if step is not None else "", "muted")
