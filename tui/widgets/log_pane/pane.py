"""The log pane: a followed output, and all that an operator may ask of it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType

from services.errors import FileConflict
from services.output import Line
from tui.actions import Scope
from tui.figures import counted, size
from tui.keymap import bindings
from tui.text import safe
from tui.widgets.log_pane.ask_bar import AskBar
from tui.widgets.log_pane.bars import Part, SaveBar
from tui.widgets.log_pane.copying import MOST_BYTES, copied_text, outcome
from tui.widgets.log_pane.drawing import View
from tui.widgets.log_pane.info_line import Remark
from tui.widgets.log_pane.lines import LogLines
from tui.widgets.log_pane.rows import LinePieces, PassingLines, Rows
from tui.widgets.log_pane.saving import GivenUp, Saving, numbered_lines
from tui.widgets.log_pane.searching import SearchingPane
from tui.widgets.log_pane.viewport import Place

_LAST_LINES = 100
_NUMBERS_AT_ONCE = 5_000
_PROGRESS_SECONDS = 0.25


class _Opened(NamedTuple):
    """What was shown before one line was opened."""

    rows: Rows
    view: View
    top: Place
    followed: bool


class LogPane(SearchingPane):
    """A view of one session's output: follow, search, filter, open, select, copy, save.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(Scope.LOG),
        Binding("enter", "open", show=False),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        super().__init__(now)
        self._opened: _Opened | None = None
        self._saving: Saving | None = None
        self._refused: Path | None = None

    def _end_tasks(self) -> None:
        super()._end_tasks()
        if self._saving is not None:
            self._saving.give_up()

    def _forget(self) -> None:
        super()._forget()
        self._opened = None

    def _remarks(self) -> list[Remark]:
        remarks = []
        if isinstance(rows := self.lines.rows, LinePieces):
            remarks.append(Remark(f"line {rows.line.number + 1:,}, {rows.line.length:,} bytes", "strong"))
        if (selection := self.lines.selection) is not None:
            remarks.append(Remark(f"{counted(len(selection), 'line')} selected", "strong"))
        if self._saving is not None:
            remarks.append(Remark(f"saving, {size(self._saving.done)} so far; esc gives up", "strong"))
        return [*remarks, *super()._remarks()]

    # ── how lines look ────────────────────────────────────────────────────────────────────────────────────────

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them at the edge."""
        view = self.lines.view
        self.lines.lay_out(replace(view, wrap=not view.wrap, sideways=0))

    def action_times(self) -> None:
        """Show or hide when each line came."""
        view = self.lines.view
        self.lines.lay_out(replace(view, times=not view.times, dated=False))

    # ── one line, some lines ──────────────────────────────────────────────────────────────────────────────────

    def action_open(self) -> None:
        """Show the line in use alone and whole."""
        lines, rows = self.lines, self.lines.rows
        if self._reader is None or rows is None or rows.first == rows.end or isinstance(rows, LinePieces):
            return
        line = lines.line(lines.row_in_use())
        if line is not None:
            self._opened = _Opened(rows, lines.view, lines.viewport.top, lines.following)
            lines.show(LinePieces(self._reader, line))
            lines.lay_out(replace(lines.view, wrap=True, sideways=0))
            lines.go_to_top(Place(0))
            self._tell()

    @on(LogLines.Opened)
    def _double_clicked(self, message: LogLines.Opened) -> None:
        message.stop()
        self.action_open()

    def _close_line(self) -> None:
        if (opened := self._opened) is not None:
            self._opened = None
            self.lines.show(opened.rows)
            self.lines.lay_out(opened.view)
            if not opened.followed:
                self.lines.go_to_top(opened.top)
            self._tell()

    def action_select(self) -> None:
        """Begin to select lines at the line in use, or select none."""
        row = None if self.lines.selected_from is not None else self.lines.row_in_use()
        self.lines.select(row, row)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave `escape` to others while there is nothing to leave here."""
        if action == "leave":
            return bool(self._opened or self._saving or self.lines.cursor is not None or self._finding or self._filter)
        return True

    def action_leave(self) -> None:
        """Go one step back: from saving, from one line, from a selection, from search and filter."""
        if self._saving is not None:
            self._saving.give_up()
        elif self._opened is not None:
            self._close_line()
        elif self.lines.cursor is not None:
            self.lines.select(None, None)
        elif self._finding is not None:
            self._find(None)
        else:
            self._let_pass(None)

    # ── copying ───────────────────────────────────────────────────────────────────────────────────────────────

    def action_copy(self, part: str = "chosen") -> None:
        """Copy lines through the terminal.

        Args:
            part: `chosen` for the selection or the line in use, `visible` for those in sight, `last` for the newest.
        """
        rows = self.lines.rows
        if self._reader is not None and rows is not None and rows.first < rows.end:
            self._begin_task(self._copy(self._rows_of(part, rows), rows), "copy")

    def _rows_of(self, part: str, rows: Rows) -> range:
        if part == "last":
            return range(max(rows.end - _LAST_LINES, rows.first), rows.end)
        visible = self.lines.viewport.visible()
        if part == "visible" and visible:
            return range(visible[0].row, visible[-1].row + 1)
        if isinstance(rows, LinePieces):
            return range(rows.first, rows.first + 1)
        row = self.lines.row_in_use()
        return self.lines.selection or range(row, row + 1)

    async def _copy(self, wanted: range, rows: Rows) -> None:
        text = copied_text(list(self._whole_lines(wanted, rows)))
        self.app.copy_to_clipboard(text)
        self.notify(safe(await outcome(text)), markup=False)

    def _whole_lines(self, wanted: range, rows: Rows) -> Iterator[Line]:
        """Lines as they are, but none longer than can be copied."""
        assert self._reader is not None
        for row in wanted[: MOST_BYTES + 1]:
            yield from self._reader.lines(rows.line_number(row), 1, MOST_BYTES)

    # ── saving ────────────────────────────────────────────────────────────────────────────────────────────────

    def action_save(self) -> None:
        """Ask where to save the output."""
        if self._reader is None or self._saving is not None:
            return
        parts: list[Part] = ["everything"]
        if isinstance(self.lines.rows, PassingLines):
            parts.insert(0, "shown")
        if self.lines.selection is not None and self._opened is None:
            parts.insert(0, "selected")
        self._refused = None
        self._ask(SaveBar(self._default_path(), tuple(parts)))

    def _default_path(self) -> Path:
        name = re.sub(r"[^\w-]+", "-", self.title).strip("-") or "output"
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(self._now() // 1_000_000_000))
        return Path.home() / f"{name}-{stamp}.log"

    @on(AskBar.Answered)
    def _save_where_asked(self, message: AskBar.Answered) -> None:
        if isinstance(message.bar, SaveBar) and message.bar is self._bar:
            self._begin_task(self._save(message.bar), "save")

    async def _save(self, bar: SaveBar) -> None:
        reader, rows = self._reader, self.lines.rows
        if reader is None or rows is None:
            return
        path = bar.path
        selection = self.lines.selection if bar.part == "selected" else None
        wanted = selection if selection is not None else range(rows.first, rows.end)
        pieces: Iterator[bytes]
        if bar.part == "everything":
            pieces = reader.raw()
        else:
            pieces = numbered_lines(
                reader.directory, lambda at: rows.line_numbers(wanted[at], _NUMBERS_AT_ONCE), len(wanted)
            )
        self._saving = Saving(path, replace=path == self._refused)
        ticking = self.set_interval(_PROGRESS_SECONDS, self._tell)
        try:
            count = await self._saving.run(pieces)
        except GivenUp:
            self.notify("nothing was saved", markup=False)
        except FileConflict:
            self._refused = path
            raise
        else:
            self.notify(f"{size(count)} saved to {safe(str(path))}", markup=False)
            if self._bar is bar:
                self._close_bar()
        finally:
            ticking.stop()
            self._saving = None
            self._tell()
