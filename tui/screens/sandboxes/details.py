"""All that is known of one session: what it may see and use, and its steps."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.figures import SECOND, ago, duration, middle, moment, size, span
from tui.glyphs import glyphs
from tui.states import state_word
from tui.store import SessionRow
from tui.text import safe
from tui.widgets.pane import Pane
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from services.sandbox import Limits, Step

_LABEL = 10
_STEP_NAME = 12
_LEAST_PATH = 12

_STEP_LOOKS = {
    "running": ("busy", "$accent"),
    "done": ("done", "$good"),
    "failed": ("failed", "$bad"),
    "cancelled": ("stopped", "$muted"),
}


class SessionDetails(Pane):
    """Shows one session; its steps count on while they run."""

    def __init__(self) -> None:
        super().__init__(id="details")
        self._row: SessionRow | None = None
        self._steps: tuple[Step, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay out title and text."""
        yield TitleLine("Details")
        with VerticalScroll():
            yield Static(id="facts", markup=False)

    @property
    def row(self) -> SessionRow | None:
        """The session shown."""
        return self._row

    def show(self, row: SessionRow | None, steps: Sequence[Step], now: int) -> None:
        """Show a session, or none."""
        self._row, self._steps = row, tuple(steps)
        self.query_one(TitleLine).show(f"Details  {row.id}" if row else "Details")
        self.tick(now)

    def tick(self, now: int) -> None:
        """Write what changes with time."""
        width = max(self.size.width - 2, 20)
        content = describe(self._row, self._steps, now, width) if self._row else Content("")
        self.query_one("#facts", Static).update(content)


def describe(row: SessionRow, steps: Sequence[Step], now: int, width: int) -> Content:
    """Write all that is known of a session, one fact a line.

    Args:
        row: The session.
        steps: Its steps in order.
        now: Nanoseconds since 1970.
        width: Columns of the terminal a line may take.
    """
    room = width - _LABEL
    lines = [
        _fact("agent", row.agent),
        _fact("state", f"{state_word(row)}{_exit(row)}"),
        _runs_in(row),
    ]
    for index, asked in enumerate(row.asking):
        wants = f"{asked.tool} {asked.arguments}, {asked.left(now)} left"
        lines.append(_fact("" if index else "asks", middle(wants, room), "$warn"))
    if row.detail:
        lines.append(_fact("", middle(row.detail, room), "$muted"))
    if row.orphan is None:
        lines += describe_sandbox(row, width)[1:]
        if row.prompt:
            lines.append(_fact("prompt", middle(row.prompt, room)))
        lines += [_time("started", row.started_at or row.created_at, now)]
        if row.ended_at:
            lines.append(_time("ended", row.ended_at, now))
    if steps:
        lines += [Content(""), Content.assemble(("STEPS", "$muted"))]
        lines += [_step(step, now, width) for step in steps]
    return Content("\n").join(lines)


def describe_sandbox(row: SessionRow, width: int) -> list[Content]:
    """Write what a sandbox sees and may use, one fact a line."""
    room = width - _LABEL
    return [
        _runs_in(row),
        _fact("lifecycle", _lifecycle(row)),
        *([_fact("image", middle(row.image, room))] if row.image else []),
        _fact("command", middle(shlex.join(row.command), room)),
        *_mounts(row, room),
        _fact("limits", _limits(row.limits)),
        _fact("network", row.network if row.confined else "this machine's own", "" if row.confined else "$warn"),
    ]


def _runs_in(row: SessionRow) -> Content:
    if row.confined:
        return _fact("runs in", row.engine)
    return _fact("runs in", f"{row.engine}, unconfined: it may do what you may", "$warn")


def _fact(label: str, value: str, style: str = "") -> Content:
    return Content.assemble((label.ljust(_LABEL), "$muted"), (value, style))


def _exit(row: SessionRow) -> str:
    return "" if row.exit_code is None else f", status {row.exit_code}"


def _lifecycle(row: SessionRow) -> str:
    if row.lifecycle == "oneshot":
        return "oneshot, removed at its end"
    if row.idle_timeout is None:
        return row.lifecycle
    return f"{row.lifecycle}, until idle for {span(row.idle_timeout)}"


def _mounts(row: SessionRow, room: int) -> list[Content]:
    if not row.confined:
        return [_fact("workspace", middle(row.workspace, room))]
    lines: list[Content] = []
    for mount in row.mounts:
        access = "rw" if mount.writable else "ro"
        head = f"{access} {safe(mount.target)} {'<-' if glyphs().ascii else '←'} "
        source = middle(safe(mount.source), max(room - len(head), _LEAST_PATH))
        lines.append(_fact("" if lines else "mounts", middle(f"{head}{source}", room)))
    return lines or [_fact("mounts", "none", "$muted")]


def _limits(limits: Limits | None) -> str:
    if limits is None:
        return "none"
    parts = [
        f"{size(limits.memory)} memory" if limits.memory else "",
        f"{limits.cpus:g} {'cpu' if limits.cpus == 1 else 'cpus'}" if limits.cpus else "",
        f"{limits.pids} processes" if limits.pids else "",
    ]
    return ", ".join(part for part in parts if part) or "none"


def _time(label: str, at: int | None, now: int) -> Content:
    return Content.assemble((label.ljust(_LABEL), "$muted"), moment(at), (f"  {ago(at, now)}", "$muted"))


def _step(step: Step, now: int, width: int) -> Content:
    sign, style = _STEP_LOOKS[step.state]
    took = duration(((step.ended_at or now) - step.started_at) / SECOND)
    room = max(width - _STEP_NAME - 10, 8)
    return Content.assemble(
        (f"{getattr(glyphs(), sign)} ", style),
        safe(step.name).ljust(_STEP_NAME),
        (took.rjust(6), "$muted"),
        (f"  {middle(safe(step.detail), room)}" if step.detail else "", "$muted"),
    )
