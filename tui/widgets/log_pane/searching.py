"""A followed pane in which lines are searched, jumped to and filtered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from textual import events, on
from textual.timer import Timer

from services.errors import PinfoldError
from services.output import Filter, FilteredLines, Level, Query
from tui.figures import counted
from tui.widgets.log_pane.ask_bar import AskBar
from tui.widgets.log_pane.bars import FilterBar, SearchBar, filter_text
from tui.widgets.log_pane.finding import Finding, Hits, marking
from tui.widgets.log_pane.following import FRAMES, FollowingPane
from tui.widgets.log_pane.info_line import Remark
from tui.widgets.log_pane.rows import AllLines, PassingLines
from tui.widgets.log_pane.viewport import Place

_TYPING_PAUSE = 0.15
"""Seconds without a key after which what is typed takes effect."""


class _Origin(NamedTuple):
    """Where a pane was before it was asked for something.

    Attributes:
        line: The line in use, where a search begins.
        top: The first line in sight.
        followed: Whether it followed the end.
    """

    line: int
    top: int
    followed: bool


class SearchingPane(FollowingPane):
    """Finds lines, jumps between errors, shows only what passes a filter."""

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        super().__init__(now)
        self._bar: AskBar | None = None
        self._bar_waits = False
        self._typing: Timer | None = None
        self._origin = _Origin(0, 0, followed=True)
        self._finding: Finding | None = None
        self._errors: Hits | None = None
        self._filter: Filter | None = None
        self._filtered: FilteredLines | None = None
        self._outcome = ""

    def _begin(self) -> None:
        self._forget()
        super()._begin()

    def on_unmount(self) -> None:
        """End what runs."""
        self._end_tasks()

    def _end_tasks(self) -> None:
        """End what belongs to the session shown."""
        for used in (self._finding, self._errors, self._filtered):
            if used is not None:
                used.close()
        for group in ("find", "jump", "filter"):
            self.workers.cancel_group(self, group)

    def _forget(self) -> None:
        """Drop what belongs to the session shown."""
        self._end_tasks()
        self._finding = self._errors = self._filter = self._filtered = None
        self._outcome = ""
        self._mark(None)
        self._close_bar()

    def _remarks(self) -> list[Remark]:
        remarks = super()._remarks()
        if self._finding is not None:
            remarks.append(Remark(self._finding.text, "strong"))
        if self._filter is not None and self._filtered is not None:
            count, end = self._filtered.rows, self._filtered.progress.end
            remarks.append(Remark(f"{filter_text(self._filter)}  {count:,} of {counted(end, 'line')}", "strong"))
        if self._outcome:
            remarks.append(Remark(self._outcome))
        return remarks

    # ── asking ────────────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, bar: AskBar) -> None:
        self._close_bar()
        self._origin = self._place_now()
        self._bar = bar
        self._bar_waits = True
        self.mount(bar)

    async def on_key(self, event: events.Key) -> None:
        """Carry out keys in the order they were pressed, and hand a bar what was typed before it was there.

        The app would carry bindings out only after keys that follow have been sent on their way.
        """
        if self._bar is not None and self._bar_waits:
            self._bar.take_key(event)
        elif self.has_focus and (active := self.screen.active_bindings.get(event.key)) and active.node is self:
            await self.run_action(active.binding.action)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_descendant_focus(self) -> None:
        """Keys go to the bar by themselves from now on."""
        self._bar_waits = False

    def _close_bar(self) -> None:
        if self._typing is not None:
            self._typing.stop()
        if self._bar is not None:
            bar, self._bar = self._bar, None
            if bar.has_focus_within:
                self.screen.set_focus(self)
            bar.remove()

    @staticmethod
    def _takes_effect(bar: AskBar) -> bool:
        """Whether what is typed in a bar takes effect while it is typed."""
        return isinstance(bar, SearchBar | FilterBar)

    @on(AskBar.Changed)
    def _typed(self, message: AskBar.Changed) -> None:
        message.stop()
        if message.bar is self._bar and self._takes_effect(message.bar):
            if self._typing is not None:
                self._typing.stop()
            self._typing = self.set_timer(_TYPING_PAUSE, self._apply_bar)

    @on(AskBar.Answered)
    def _answered(self, message: AskBar.Answered) -> None:
        message.stop()
        if message.bar is self._bar and self._takes_effect(message.bar) and self._apply_bar():
            self._close_bar()

    @on(AskBar.Dropped)
    def _dropped(self, message: AskBar.Dropped) -> None:
        message.stop()
        bar = self._bar
        self._close_bar()
        self._say_problem(None)
        if isinstance(bar, SearchBar):
            self._find(None)
            self._return(self._origin)
        elif isinstance(bar, FilterBar):
            self._let_pass(None)

    def _apply_bar(self) -> bool:
        """Do what the bar asks for; whether it could be done."""
        bar = self._bar
        try:
            if isinstance(bar, SearchBar):
                self._find(bar.wanted)
            elif isinstance(bar, FilterBar):
                self._let_pass(bar.wanted)
        except PinfoldError as error:
            self._say_problem(error)
            return False
        self._say_problem(None)
        return True

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────────────

    def action_search(self) -> None:
        """Ask what to search for."""
        if self._reader is not None:
            self._ask(SearchBar(self._finding.query if self._finding is not None else None))

    def _find(self, query: Query | None, *, jump: bool = True) -> None:
        """Search for something else, or no more.

        Args:
            query: What to look for.
            jump: Go to a hit.
        """
        if self._reader is None or (self._finding is not None and self._finding.query == query):
            return
        if self._finding is not None:
            self._finding.close()
            self.workers.cancel_group(self, "find")
            self.workers.cancel_group(self, "jump")
        self._finding = None if query is None else Finding(self._reader, query, self._filter)
        self._mark(query)
        if self._finding is not None:
            self._begin_task(self._count(self._finding), "find")
            if jump:
                self._begin_task(self._jump_to_nearest(self._finding), "jump")
        self._tell()

    def _mark(self, query: Query | None) -> None:
        wanted = None if query is None else marking(query)
        if wanted != self.lines.view.wanted:
            self.lines.lay_out(replace(self.lines.view, wanted=wanted))

    async def _count(self, finding: Finding) -> None:
        async for _ in finding.run():
            self._tell()
            await self._in_sight()

    async def _jump_to_nearest(self, finding: Finding) -> None:
        """Go to the first hit below where the search began, else above; above first when that was the end."""
        line, _, followed = self._origin
        rows = self.lines.rows
        if rows is None:
            return
        for forward in (False, True) if followed else (True, False):
            row = await finding.go(line - 1 if forward else line + 1, rows, forward=forward)
            if row is not None:
                self.lines.go_to(row)
                break
        self._tell()

    def action_next(self) -> None:
        """Go to the next hit."""
        self._go_to_hit(forward=True)

    def action_previous(self) -> None:
        """Go to the hit before."""
        self._go_to_hit(forward=False)

    def _go_to_hit(self, *, forward: bool) -> None:
        if self._finding is None:
            self.action_search()
        else:
            self._begin_task(
                self._jump(self._finding, "hit", self._line_before(forward=forward), forward=forward), "jump"
            )

    # ── errors ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_next_error(self) -> None:
        """Go to the next line that reports an error."""
        self._go_to_error(forward=True)

    def action_previous_error(self) -> None:
        """Go to the error before."""
        self._go_to_error(forward=False)

    def _go_to_error(self, *, forward: bool) -> None:
        if self._reader is None:
            return
        if self._errors is None:
            self._errors = Hits(self._reader, Filter(level=Level.ERROR))
        self._begin_task(self._jump(self._errors, "error", self._line_before(forward=forward), forward=forward), "jump")

    async def _jump(self, hits: Hits, what: str, line: int, *, forward: bool) -> None:
        rows = self.lines.rows
        if rows is None:
            return
        row = await hits.go(line, rows, forward=forward)
        if row is None:
            self._outcome = f"no {what} {'below' if forward else 'above'}"
        else:
            self._outcome = ""
            self.lines.go_to(row)
        self._tell()

    def _line_before(self, *, forward: bool) -> int:
        """The line from which to look for the next one; the first in sight counts itself."""
        line = self._line_in_use()
        return line - 1 if forward and self.lines.cursor is None and not self.lines.following else line

    def _line_in_use(self) -> int:
        """The line of the cursor, else the newest one while the pane follows, else the first one in sight."""
        lines, rows = self.lines, self.lines.rows
        if rows is None:
            return 0
        if lines.cursor is not None:
            return rows.line_number(lines.cursor)
        if lines.following:
            return rows.line_number(max(rows.end - 1, rows.first)) + 1
        return rows.line_number(lines.viewport.top.row)

    # ── filtering ─────────────────────────────────────────────────────────────────────────────────────────────

    def action_filter(self) -> None:
        """Ask which lines to show."""
        if self._reader is not None:
            self._ask(FilterBar(self._filter))

    def _let_pass(self, wanted: Filter | None) -> None:
        """Show only some lines, or all again, from where the pane is."""
        if self._reader is None or wanted == self._filter:
            return
        self._origin = origin = self._place_now()
        self._filter = wanted
        if self._filtered is not None:
            self._filtered.close()
            self._filtered = None
            self.workers.cancel_group(self, "filter")
        if wanted is None:
            self.lines.empty_text = "no output yet"
            self.lines.show(AllLines(self._reader))
            self._return(origin)
        else:
            self._filtered = FilteredLines(self._reader, wanted)
            self.lines.empty_text = "looking for lines that pass the filter"
            self.lines.show(PassingLines(self._reader, self._filtered))
            self._begin_task(self._fill(self._filtered, origin), "filter")
        if (finding := self._finding) is not None:
            self._finding = None
            finding.close()
            self._find(finding.query, jump=False)
        self._tell()

    async def _fill(self, filtered: FilteredLines, origin: _Origin) -> None:
        """Draw lines as they pass, and go back to where the pane was once its place is known."""
        drawn = 0.0
        waiting = not origin.followed
        async for progress in filtered.run():
            await self._in_sight()
            if waiting and (progress.searched > origin.top or progress.complete):
                waiting = False
                self._return(origin)
            if progress.complete:
                self.lines.empty_text = "no line passes the filter"
                await asyncio.sleep(max(drawn + 1 / FRAMES - time.monotonic(), 0))
            if (now := time.monotonic()) - drawn >= 1 / FRAMES:
                drawn = now
                self.lines.take_in()
                self._tell()

    def _place_now(self) -> _Origin:
        if self._reader is not None and self._reader.refresh():
            self.lines.take_in()
        rows = self.lines.rows
        top = 0 if rows is None else rows.line_number(self.lines.viewport.top.row)
        return _Origin(self._line_in_use(), top, self.lines.following)

    def _return(self, origin: _Origin) -> None:
        """Go back to where the pane was."""
        rows = self.lines.rows
        if rows is None or origin.followed:
            self.lines.follow()
            return
        self.lines.select(None, None)
        self.lines.take_in()
        self.lines.go_to_top(Place(rows.row_at(origin.top)))
