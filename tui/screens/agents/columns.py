"""The columns of the list of agents."""

from __future__ import annotations

from collections.abc import Callable

from tui.figures import ago
from tui.glyphs import glyphs
from tui.store import AgentRow
from tui.widgets.table import Cell, Column, Span, cell


def agent_columns(now: Callable[[], int], unsaved: Callable[[str], bool]) -> list[Column[AgentRow]]:
    """The columns from left to right.

    Args:
        now: Nanoseconds since 1970.
        unsaved: Whether changes of an agent are not saved.
    """
    return [
        Column("alias", "ALIAS", lambda row, _: _alias(row, unsaved), lambda row: row.alias, 12, grow=3, most=28),
        Column("state", "STATE", lambda row, _: agent_state(row), state_order, 11),
        Column("runner", "RUNNER", lambda row, _: _quiet(row.runner), lambda row: row.runner, 8, drop=4),
        Column(
            "profile", "PROFILE", lambda row, _: _quiet(row.profile), lambda r: r.profile, 10, grow=1, most=16, drop=3
        ),
        Column("memory", "MEMORY", lambda row, _: _quiet(row.memory), lambda row: row.memory, 8, drop=1),
        Column("sessions", "SESS", lambda r, _: _count(r.sessions), lambda r: -r.sessions, 4, right=True, drop=2),
        Column(
            "active",
            "LAST",
            lambda row, _: cell(ago(row.active_at, now()), "muted"),
            lambda row: -(row.active_at or 0),
            5,
            right=True,
            drop=5,
        ),
    ]


def _alias(row: AgentRow, unsaved: Callable[[str], bool]) -> Cell:
    name = Span(row.alias, "strong")
    return (name, Span(" *", "warn")) if unsaved(row.alias) else (name,)


def agent_state(row: AgentRow) -> Cell:
    """What is wrong with an agent, else whether it runs."""
    signs = glyphs()
    if row.errors:
        line = row.errors[0].line
        word = f"line {line}" if line else "broken"
        return (Span(f"{signs.warning} {word}", "bad"),)
    if not row.enabled:
        return (Span(f"{signs.dash} off", "muted"),)
    if row.running:
        return (Span(f"{signs.running} {row.running} running", "good"),)
    if row.problems:
        return (Span(f"{signs.warning} check", "warn"),)
    return (Span(f"{signs.idle} idle", "muted"),)


def state_order(row: AgentRow) -> tuple[bool, int, bool]:
    """What needs the operator comes first, then what runs."""
    return (not row.errors, -row.running, not row.enabled)


def _quiet(text: str) -> Cell:
    return cell(text or glyphs().dash, "muted")


def _count(count: int) -> Cell:
    return cell(f"{count:,}" if count else glyphs().dash, "" if count else "muted")
