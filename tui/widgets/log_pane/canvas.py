"""Draws rows of output by the line API, beside a scroll bar: what is on screen and nothing else."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

from services.output import Line
from tui.widgets.log_pane.drawing import BAR_WIDTH, COMPONENTS, RowDrawing, Styles, View, painter_for
from tui.widgets.log_pane.gutter import needs_dates
from tui.widgets.log_pane.rows import Rows
from tui.widgets.log_pane.sheet import Sheet
from tui.widgets.log_pane.viewport import Place, Viewport

_BAR_STEPS = 8


class LineCanvas(Widget):
    """Rows of output on the screen.

    Args:
        now: The clock, nanoseconds since 1970; decides which times need a date.

    Attributes:
        viewport: Which rows are on screen.
        cursor: The row that actions concern; None for none.
        selected_from: Where the selection began that ends at the cursor; None when there is none.
        empty_text: Shown when there are no rows.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        super().__init__()
        self.viewport = Viewport(self._parts_of)
        self.cursor: int | None = None
        self.selected_from: int | None = None
        self.empty_text = ""
        self._now = now
        self._bar = ScrollBar(vertical=True, thickness=BAR_WIDTH)
        self._bar_drawn = (-1, -1)
        self._view = View()
        self._known: Styles | None = None
        self._sheet: Sheet | None = None
        self._drawing: RowDrawing | None = None

    def compose(self) -> ComposeResult:
        """Only the scroll bar is a widget."""
        yield self._bar

    # ── what is drawn ─────────────────────────────────────────────────────────────────────────────────────────

    @property
    def rows(self) -> Rows | None:
        """Where the rows come from."""
        return None if self._sheet is None else self._sheet.rows

    @property
    def view(self) -> View:
        """How lines are laid out."""
        return self._view

    @property
    def selection(self) -> range | None:
        """The selected rows."""
        if self.selected_from is None or self.cursor is None:
            return None
        return range(min(self.selected_from, self.cursor), max(self.selected_from, self.cursor) + 1)

    @property
    def unseen(self) -> int:
        """How many rows came that were never in sight."""
        return 0

    def line(self, row: int) -> Line | None:
        """The line of a row, as it is read for drawing."""
        return None if self._sheet is None else self._sheet.line(row)

    def lay_out(self, view: View) -> None:
        """Lay lines out differently; the first line in sight stays."""
        before, self._view = self._view, view
        if self._sheet is not None and (before.wrap, before.wanted, before.room) != (view.wrap, view.wanted, view.room):
            self._sheet.repaint()
        self._drawing = None
        self.viewport.settle()
        self.draw()

    def draw(self) -> None:
        """Have the screen drawn again with what is in sight now."""
        if self._view.times and self._sheet is not None:
            times = [self._sheet.line(place.row).at for place in self.viewport.visible()]
            if (dated := needs_dates(times, self._now())) != self._view.dated:
                self.lay_out(replace(self._view, dated=dated))
                return
        self._move_bar()
        self.refresh()

    def _take_rows(self, rows: Rows | None) -> None:
        self._sheet = None if rows is None else Sheet(rows, lambda: painter_for(self._styles(), self._view))
        self._drawing = None

    def _take_in(self) -> None:
        """Take notice of rows that came or went."""
        if self._sheet is None:
            self.viewport.take(0, 0)
            return
        self._sheet.rows.refresh()
        if self._sheet.forget_unsettled() and self._drawing is not None:
            self._drawing.forget()
        rows, view = self._sheet.rows, self.viewport
        self._sheet.read(rows.end - view.height if view.following else view.top.row, view.height)
        view.take(rows.first, rows.end)

    # ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows of the screen; done here since no border, padding or opacity lies between them and the screen."""
        width, background = self.size.width, self.background_colors[1]
        filters = self.get_line_filters()
        places = self.viewport.visible()
        strips = []
        for y in crop.line_range:
            strip = self._row(places, y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip if crop.column_span == (0, width) else strip.crop(*crop.column_span))
        return strips

    def _row(self, places: list[Place], y: int) -> Strip:
        if self._sheet is None:
            return Strip.blank(self.size.width, self._styles().base)
        if self._drawing is None:
            self._drawing = RowDrawing(self._sheet, self._styles(), self._view)
        drawing = self._drawing
        if y < len(places):
            row, selection = places[y].row, self.selection
            selected = selection is not None and row in selection
            strip = drawing.strip(places[y], at_cursor=row == self.cursor, selected=selected)
        else:
            strip = drawing.remark(self.empty_text if not places and y == 0 else "")
        if y == self.viewport.height - 1 and (unseen := self.unseen):
            strip = drawing.with_badge(strip, unseen)
        return strip

    def _styles(self) -> Styles:
        if self._known is None:
            self._known = Styles(self)
        return self._known

    def _parts_of(self, row: int) -> int:
        return len(self._sheet.parts(row)) if self._view.wrap and self._sheet is not None else 1

    def _move_bar(self, *, exactly: bool = False) -> None:
        """Move the scroll bar, unless it would look the same."""
        view = self.viewport
        window = max(view.height, 1)
        count = max(view.end - view.first, 1)
        most = max(count - window, 0)
        position = most if view.at_end else min(view.top.row - view.first, most)
        drawn = (position * _BAR_STEPS * window // count, window * _BAR_STEPS * window // count)
        if exactly or drawn != self._bar_drawn:
            self._bar_drawn = drawn
            self._bar.window_virtual_size, self._bar.window_size = count, window
            self._bar.position = position

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._known = None
        self._drawing = None
        if self._sheet is not None:
            self._sheet.repaint()

    def _fit(self) -> None:
        """Fit lines and rows into another size; the first line stays where it is, if the cursor stays in sight."""
        view, cursor = self.viewport, self.cursor
        keeps_cursor = cursor is not None and view.shows(cursor)
        view.height = self.size.height
        self.lay_out(replace(self._view, width=self.size.width))
        while keeps_cursor and cursor is not None and view.height and not view.shows(cursor) and not view.at_end:
            view.move(1)
