"""The lines of a log pane: follows or stays, scrolls, selects."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.scrollbar import ScrollDown, ScrollTo, ScrollUp

from tui.widgets.log_pane.canvas import LineCanvas
from tui.widgets.log_pane.rows import Rows
from tui.widgets.log_pane.viewport import Place

_WHEEL_ROWS = 3
_WHEEL_COLUMNS = 8
_LEFT_BUTTON = 1


class LogLines(LineCanvas):
    """Rows of output that follow the end, or stay exactly where they are whatever comes.

    Attributes:
        held: Takes in nothing new until it follows again.
    """

    class Moved(Message):
        """Something else is in sight or selected, or the view began or ceased to follow."""

    class Opened(Message):
        """A line was double clicked."""

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        super().__init__(now)
        self.held = False
        self._seen = 0
        self._pressed_at: int | None = None

    def on_mount(self) -> None:
        """Learn when the scroll bar is taken and let go."""
        self.watch(self._bar, "grabbed", self._bar_grabbed, init=False)

    # ── following ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def following(self) -> bool:
        """Whether the newest row stays in sight."""
        return self.viewport.following

    @property
    def unseen(self) -> int:
        """How many rows came that were never in sight, because the view stays where it is."""
        rows = self.rows
        return 0 if rows is None or self.following else max(rows.end - max(self._seen, rows.first), 0)

    def show(self, rows: Rows | None) -> None:
        """Show other rows, from their end."""
        self.cursor = self.selected_from = None
        self._seen = 0
        self._take_rows(rows)
        self.follow()

    def take_in(self) -> None:
        """Take notice of rows that came or went."""
        if self.held:
            if self.rows is not None:
                self.rows.refresh()
        else:
            bar_is_held = self._bar.grabbed is not None
            follows = self.viewport.following
            self.viewport.following = follows and not bar_is_held
            self._take_in()
            self.viewport.following = follows
        self._show_place()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.held = False
        self.viewport.following = True
        self.take_in()
        self.post_message(self.Moved())

    def stay(self) -> None:
        """Stay on the rows in sight, whatever comes."""
        self.held = True
        self.viewport.following = False
        self._show_place()
        self.post_message(self.Moved())

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────

    def scroll_rows(self, count: int) -> None:
        """Go down, or up when negative; reaching the end follows it again."""
        view = self.viewport
        self._read_near(view.top.row + min(count, 0), view.height + abs(count))
        view.move(count)
        self._moved()

    def scroll_columns(self, count: int) -> None:
        """Go right, or left when negative, as far as the widest line in sight."""
        if self._sheet is None or self._view.wrap:
            return
        widest = max((self._sheet.parts(place.row)[0].width for place in self.viewport.visible()), default=0)
        sideways = max(min(self._view.sideways + count, widest - self._view.room), 0)
        self.lay_out(replace(self._view, sideways=sideways))

    def go_to(self, row: int) -> None:
        """Put the cursor on a row and bring it into sight; does not follow from there."""
        self.cursor = row
        self._read_near(row - self.viewport.height, 2 * self.viewport.height)
        self.viewport.show(row)
        self._show_place()
        self.post_message(self.Moved())

    def go_to_top(self, place: Place) -> None:
        """Make a place the first one in sight."""
        self._read_near(place.row, self.viewport.height)
        self.viewport.go_to(place)
        self._moved()

    def _read_near(self, start: int, count: int) -> None:
        """Read rows that are about to come into sight; what was dropped meanwhile does not come back."""
        if self._sheet is not None:
            view, rows = self.viewport, self._sheet.rows
            view.first = max(view.first, rows.first)
            if view.first >= view.end:  # nothing is left of what the view was held at
                view.end = rows.end
            self._sheet.read(start, count)

    def select(self, anchor: int | None, cursor: int | None) -> None:
        """Select the rows between two, or none; a selection does not run away from under the operator."""
        self.selected_from, self.cursor = anchor, cursor
        if cursor is not None:
            self.viewport.show(cursor)
        self._show_place()
        self.post_message(self.Moved())

    def move_cursor(self, count: int) -> None:
        """Move the cursor, and with it the end of the selection."""
        view = self.viewport
        row = self.row_in_use() if self.cursor is None else self.cursor
        self.select(self.selected_from, max(min(row + count, view.end - 1), view.first))

    def row_in_use(self) -> int:
        """The row of the cursor while it is in sight, else the last one in sight."""
        visible = self.viewport.visible()
        if self.cursor is not None and (not visible or visible[0].row <= self.cursor <= visible[-1].row):
            return self.cursor
        return visible[-1].row if visible else self.viewport.first

    def _moved(self) -> None:
        if not self.held and self._bar.grabbed is None and self.viewport.at_end:
            self.viewport.following = True
        self._show_place()
        self.post_message(self.Moved())

    def _show_place(self) -> None:
        if self.viewport.at_end and not self.held:
            self._seen = self.viewport.end
        self.draw()

    def on_resize(self) -> None:
        """Keep the place, or the end, in another size."""
        self._fit()
        self.take_in()

    # ── mouse ─────────────────────────────────────────────────────────────────────────────────────────────────

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down, or right with shift."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up, or left with shift."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        if event.shift or event.ctrl:
            self.scroll_columns(direction * _WHEEL_COLUMNS)
        else:
            self.scroll_rows(direction * _WHEEL_ROWS)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Begin to select lines."""
        if event.button == _LEFT_BUTTON:
            self._pressed_at = self._row_at(event.y)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select lines while the button is down, and scroll at the edges."""
        if self._pressed_at is None:
            return
        if event.y < 0 or event.y >= self.size.height:
            self.viewport.move(1 if event.y > 0 else -1)
        row = self._row_at(min(max(event.y, 0), self.size.height - 1))
        if row is not None and (row != self._pressed_at or self.selected_from is not None):
            self.select(self._pressed_at, row)

    def on_mouse_up(self) -> None:
        """End to select lines."""
        self._pressed_at = None
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        """Take the line clicked; the badge goes to the end, a double click opens."""
        row = self._row_at(event.y)
        if self.unseen and event.y == self.viewport.height - 1 and event.x >= self.view.width // 2:
            self.follow()
        elif row is not None and self.selected_from is None and not self.following:
            self.select(None, row)
            if event.chain == 2:
                self.post_message(self.Opened())

    def _row_at(self, y: int) -> int | None:
        visible = self.viewport.visible()
        return visible[y].row if 0 <= y < len(visible) else None

    def on_scroll_to(self, event: ScrollTo) -> None:
        """Go where the scroll bar is dragged."""
        event.stop()
        if event.y is not None:
            view = self.viewport
            row = view.first + max(round(event.y), 0)
            self.go_to_top(view.last_top() if row >= view.end - view.height else Place(row))

    def on_scroll_up(self, event: ScrollUp) -> None:
        """Go a page up."""
        event.stop()
        self.scroll_rows(-self.viewport.height)

    def on_scroll_down(self, event: ScrollDown) -> None:
        """Go a page down."""
        event.stop()
        self.scroll_rows(self.viewport.height)

    def _bar_grabbed(self, grabbed: Offset | None) -> None:
        if grabbed is None:
            self._moved()
        else:
            self._move_bar(exactly=True)
