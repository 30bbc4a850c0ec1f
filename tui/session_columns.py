"""The columns of the table of sessions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tui.figures import SECOND, ago, duration, percent, size
from tui.glyphs import glyphs
from tui.states import engine_cell, state_cell, state_word
from tui.store import SessionRow
from tui.widgets.sparkline import bars
from tui.widgets.table import Cell, Column, Span, cell

_FIGURE = 5
_KEPT = 30
_HEADROOM = 1.2
"""Room above the highest bar, so that bars of two rows do not touch."""


@dataclass
class UsageHistory:
    """The last samples of one session, oldest first.

    Attributes:
        cpu: Busy cores.
        memory: Bytes.
        memory_limit: Bytes; None is unlimited.
    """

    cpu: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    memory: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))
    memory_limit: int | None = None


Histories = Callable[[str], UsageHistory | None]
Clock = Callable[[], int]


def session_columns(history: Histories, now: Clock, *, with_agent: bool = True) -> list[Column[SessionRow]]:
    """The columns from left to right.

    Args:
        history: What is known of a session's usage.
        now: Nanoseconds since 1970.
        with_agent: Leave out where all sessions are of one agent.
    """

    def cpu(row: SessionRow, width: int) -> Cell:
        known = history(row.id)
        if not row.live or known is None or not known.cpu:
            return cell("")
        return _graph(known.cpu, max(1.0, *known.cpu) * _HEADROOM, percent(known.cpu[-1]), width)

    def memory(row: SessionRow, width: int) -> Cell:
        known = history(row.id)
        if not row.live or known is None or not known.memory:
            return cell("")
        top = known.memory_limit or max(known.memory) * _HEADROOM
        return _graph(known.memory, top, size(known.memory[-1]), width)

    columns = [
        Column("agent", "AGENT", lambda row, _: cell(row.agent, "strong"), lambda row: row.agent, 12, grow=1, most=24),
        Column("runner", "RUNNER", lambda row, _: cell(row.runner, "muted"), lambda row: row.runner, 8, drop=1),
        Column("engine", "ENGINE", lambda row, _: engine_cell(row), lambda row: row.engine, 12),
        Column("state", "STATE", lambda row, _: state_cell(row), state_word, 15),
        Column(
            "lifecycle", "LIFECYCLE", lambda row, _: cell(row.lifecycle, "muted"), lambda r: r.lifecycle, 11, drop=2
        ),
        Column("age", "AGE", lambda row, _: cell(age(row, now())), newest_first, 6, right=True, drop=7),
        Column("cpu", "CPU", cpu, _last(history, "cpu"), _FIGURE, grow=1, most=14, right=True, drop=5),
        Column("memory", "MEM", memory, _last(history, "memory"), _FIGURE, grow=1, most=14, right=True, drop=4),
        Column("exit", "EXIT", lambda row, _: exit_cell(row), lambda row: row.exit_code or 0, 4, right=True, drop=3),
        Column("last", "LAST", lambda row, _: last_cell(row, now()), last_moment, 14, grow=4, drop=6),
    ]
    return columns if with_agent else columns[1:]


def age(row: SessionRow, now: int) -> str:
    """How long a session has run, or ran."""
    begin = row.started_at or row.created_at
    if begin is None:
        return ""
    return duration(((row.ended_at or now) - begin) / SECOND)


def newest_first(row: SessionRow) -> tuple[bool, int, str]:
    """The usual order: what is live, then the newest."""
    return (not row.live and row.orphan is None, -(row.created_at or 0), row.id)


def exit_cell(row: SessionRow) -> Cell:
    """The exit status of an ended session."""
    if row.exit_code is None:
        return cell(glyphs().dash if not row.live and row.orphan is None else "", "muted")
    return cell(str(row.exit_code), "bad" if row.exit_code else "muted")


def last_cell(row: SessionRow, now: int) -> Cell:
    """What a session asks for, is about or died of, else when it last did something."""
    if state_word(row) == "waiting":
        more = f" and {len(row.asking) - 1} more" if len(row.asking) > 1 else ""
        return cell(f"asks: {row.asking[0].tool}{more}", "warn")
    if row.detail:
        return cell(row.detail, "warn" if row.orphan else "")
    if row.live:
        return cell(f"active {ago(row.active_at, now)}" if row.active_at else "", "muted")
    return cell(f"ended {ago(row.ended_at, now)}" if row.ended_at else "", "muted")


def last_moment(row: SessionRow) -> int:
    """When a session last did something, nanoseconds since 1970."""
    return -max(row.active_at or 0, row.ended_at or 0, row.created_at or 0)


def _last(history: Histories, what: str) -> Callable[[SessionRow], float]:
    def order(row: SessionRow) -> float:
        known = history(row.id)
        values = getattr(known, what) if known else ()
        return -values[-1] if values and row.live else 1.0

    return order


def _graph(values: Sequence[float], top: float, figure: str, width: int) -> Cell:
    room = width - _FIGURE - 1
    figure = figure.rjust(_FIGURE)
    if room < 3:
        return cell(figure)
    return (Span(bars(tuple(values), room, top), "accent"), Span(f" {figure}"))
