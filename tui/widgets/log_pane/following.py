"""A pane that follows a session's output while it can be seen, and says how it stands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message

from services.errors import PinfoldError
from services.output import SpoolReader
from tui.glyphs import glyphs
from tui.text import safe
from tui.widgets.log_pane.info_line import InfoLine, Remark
from tui.widgets.log_pane.lines import LogLines
from tui.widgets.log_pane.rows import AllLines
from tui.widgets.log_pane.viewport import Place

FRAMES = 15
"""Most often the lines are drawn for new output, times a second."""

_FRAMES_IN_A_FLOOD = 6
"""The same while every frame brings more lines than fit: nobody can read them, and drawing costs as much as reading."""

_SIDEWAYS = 8


class FollowingPane(Vertical, can_focus=True):
    """Lines of output with what is said of them below.

    It reads only what is on screen, draws at most `FRAMES` times a second, and does nothing while out of sight.

    Args:
        now: The clock, nanoseconds since 1970.

    Attributes:
        lines: The output.
        info: The line below.
        title: Names the session.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "down", show=False),
        Binding("k,up", "up", show=False),
        Binding("pagedown,ctrl+f", "page_down", show=False),
        Binding("pageup,ctrl+b", "page_up", show=False),
        Binding("g,home", "top", show=False),
        Binding("G,end", "bottom", show=False),
        Binding("h,left", "left", show=False),
        Binding("l,right", "right", show=False),
    ]

    class StatusChanged(Message):
        """`status` says something else now."""

        def __init__(self, pane: FollowingPane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        super().__init__()
        self.lines = LogLines(now)
        self.info = InfoLine()
        self.title = ""
        self._now = now
        self._reader: SpoolReader | None = None
        self._problem = ""
        self._may_be_seen = asyncio.Event()
        self._suspended = False
        self._status_told = ""

    def compose(self) -> ComposeResult:
        """Lay out lines and what is said of them."""
        yield self.lines
        yield self.info

    def on_mount(self) -> None:
        """Learn when the pane may have come into sight."""
        for signal in (self.app.screen_change_signal, self.app.mode_change_signal):
            signal.subscribe(self, self._look_again)
        self.app.app_suspend_signal.subscribe(self, self._suspend)
        self.app.app_resume_signal.subscribe(self, self._resume)
        self._begin()

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────────────────

    def show(self, reader: SpoolReader | None, title: str) -> None:
        """Show another session's output, or none.

        Args:
            reader: Stays the caller's, who closes it once something else is shown.
            title: Clean text; becomes part of the name of a saved file.
        """
        self._reader, self.title = reader, title
        if self.is_mounted:
            self._begin()

    def _begin(self) -> None:
        reader = self._reader
        self._problem = ""
        self.lines.empty_text = "no output yet"
        self.lines.show(None if reader is None else AllLines(reader))
        self.workers.cancel_group(self, "follow")
        if reader is not None:
            self._begin_task(self._follow(reader), "follow")
        self._tell()

    async def _follow(self, reader: SpoolReader) -> None:
        drawn = reader.end
        while True:
            await self._in_sight()
            size = reader.size
            self.lines.take_in()
            self._tell()
            flooded, drawn = reader.end - drawn > self.lines.size.height, reader.end
            await asyncio.sleep(1 / (_FRAMES_IN_A_FLOOD if flooded else FRAMES))
            await reader.changed(size)

    def _begin_task(self, task: Coroutine[Any, Any, None], group: str) -> None:
        """Run a task beside the screen, instead of one of its group; what goes wrong is said on the line below."""
        self.run_worker(self._guarded(task), group=group, exclusive=True, exit_on_error=False)

    async def _guarded(self, task: Coroutine[Any, Any, None]) -> None:
        try:
            await task
        except PinfoldError as error:
            self._say_problem(error)

    def _say_problem(self, error: PinfoldError | None) -> None:
        self._problem = "" if error is None else safe(str(error))
        self._tell()

    async def _in_sight(self) -> None:
        """Wait until the pane can be seen."""
        while not self._can_be_seen():
            self._may_be_seen.clear()
            await self._may_be_seen.wait()

    def _can_be_seen(self) -> bool:
        if self._suspended or not self.is_on_screen:
            return False
        stack = self.app.screen_stack
        if self.screen not in stack:
            return False
        return all(above.is_modal for above in stack[stack.index(self.screen) + 1 :])

    def _look_again(self, _: object = None) -> None:
        self._may_be_seen.set()

    def on_show(self) -> None:
        """Catch up."""
        self._look_again()

    def _suspend(self, _: object) -> None:
        self._suspended = True

    def _resume(self, _: object) -> None:
        self._suspended = False
        self._look_again()

    # ── what it says of itself ────────────────────────────────────────────────────────────────────────────────

    @property
    def status(self) -> str:
        """In a few words: what is missing, and whether the pane follows."""
        reader, signs = self._reader, glyphs()
        if reader is None:
            return ""
        parts = []
        if reader.dropped_lines:
            parts.append(f"{reader.dropped_lines:,} dropped")
        if reader.lost_bytes:
            parts.append(f"{signs.warning} {reader.lost_lines:,} lost")
        if not self.lines.following:
            parts.append(f"paused {signs.paused}")
        else:
            parts.append(f"ended {signs.stopped}" if reader.complete else f"follow {signs.running}")
        return "  ".join(parts)

    def _tell(self) -> None:
        """Say what changed: to whoever holds the pane, and on the line below."""
        if self.status != self._status_told:
            self._status_told = self.status
            self.post_message(self.StatusChanged(self))
        self.info.show(*self._remarks())

    def _remarks(self) -> list[Remark]:
        """What the line below says."""
        return [Remark(self._problem, "problem")] if self._problem else []

    @on(LogLines.Moved)
    def _moved(self, message: LogLines.Moved) -> None:
        message.stop()
        self._tell()

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_follow(self) -> None:
        """Follow the newest output, or stay where the pane is."""
        if self.lines.following:
            self.lines.stay()
        else:
            self.lines.select(None, None)
            self.lines.follow()

    def action_pause(self) -> None:
        """Stop drawing new output, or go on."""
        self.action_follow()

    def action_down(self) -> None:
        """Go a line down; while selecting, take it in."""
        self._go(1)

    def action_up(self) -> None:
        """Go a line up; while selecting, take it in."""
        self._go(-1)

    def action_page_down(self) -> None:
        """Go a page down."""
        self._go(max(self.lines.size.height - 1, 1))

    def action_page_up(self) -> None:
        """Go a page up."""
        self._go(-max(self.lines.size.height - 1, 1))

    def _go(self, count: int) -> None:
        if self.lines.selected_from is not None:
            self.lines.move_cursor(count)
        else:
            self.lines.scroll_rows(count)

    def action_top(self) -> None:
        """Go to the oldest line."""
        self.lines.go_to_top(Place(self.lines.viewport.first))

    def action_bottom(self) -> None:
        """Go to the newest line and follow it."""
        self.lines.follow()

    def action_left(self) -> None:
        """Go some columns left."""
        self.lines.scroll_columns(-_SIDEWAYS)

    def action_right(self) -> None:
        """Go some columns right."""
        self.lines.scroll_columns(_SIDEWAYS)
