"""The table widget: rows, and what keys and mouse do with them."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual import events
from textual.binding import BindingType

from tui.actions import Scope
from tui.keymap import bindings
from tui.widgets.table.rows_view import GUTTER, HEADER, RowsView

R = TypeVar("R")


class Table(RowsView[R]):
    """Rows an operator moves through, marks, filters, sorts and opens."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.LIST)

    def action_down(self) -> None:
        """Go one row down."""
        self._go(self._cursor + 1)

    def action_up(self) -> None:
        """Go one row up."""
        self._go(self._cursor - 1)

    def action_page_down(self) -> None:
        """Go one page down."""
        self._go(self._cursor + max(self.size.height - HEADER, 1))

    def action_page_up(self) -> None:
        """Go one page up."""
        self._go(self._cursor - max(self.size.height - HEADER, 1))

    def action_top(self) -> None:
        """Go to the first row."""
        self._go(0)

    def action_bottom(self) -> None:
        """Go to the last row."""
        self._go(len(self._view) - 1)

    def action_open(self) -> None:
        """Open the row under the cursor."""
        if self._view:
            self.post_message(self.Opened(self))

    def action_mark(self) -> None:
        """Mark the row, or take its mark away, and go on to the next."""
        if not self._view:
            return
        self._marks ^= {self._view[self._cursor]}
        self._refresh_row(self._cursor)
        self.post_message(self.MarksChanged(self))
        self._go(self._cursor + 1)

    def action_mark_all(self) -> None:
        """Mark every row shown; when all are, none."""
        shown = set(self._view)
        self._marks = self._marks - shown if shown <= self._marks else self._marks | shown
        self.refresh()
        self.post_message(self.MarksChanged(self))

    def action_filter(self) -> None:
        """Ask whoever holds the table for a text to filter by."""
        self.post_message(self.FilterAsked(self))

    def action_sort(self) -> None:
        """Sort by the next column shown that can sort."""
        keys = [placed.column.key for placed in self._placed if placed.column.order is not None]
        if keys:
            self.sort_by(keys[(keys.index(self._sort) + 1) % len(keys)] if self._sort in keys else keys[0])

    def action_reverse(self) -> None:
        """Sort the other way round."""
        if self._sort:
            self.sort_by(self._sort)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what this table can do."""
        if action == "filter":
            return self._text is not None and bool(self._rows)
        return bool(self._view) or action not in ("open", "mark", "mark_all", "sort", "reverse")

    # ── mouse ─────────────────────────────────────────────────────────────────────────────────────────────────

    def on_click(self, event: events.Click) -> None:
        """Choose the row clicked; open it on a double click; sort by a heading."""
        if event.y == 0:
            for placed in self._placed:
                if placed.x <= event.x < placed.x + placed.width and placed.column.order is not None:
                    self.sort_by(placed.column.key)
            return
        index = event.y - HEADER + self.scroll_offset.y
        if index >= len(self._view):
            return
        self._go(index)
        if event.x < GUTTER - 1:
            self.action_mark()
        elif event.chain == 2:
            self.action_open()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Show which row a click would choose."""
        self._hover_at(event.y - HEADER + self.scroll_offset.y if event.y else -1)

    def on_leave(self) -> None:
        """Forget the row under the pointer."""
        self._hover_at(-1)

    def _hover_at(self, index: int) -> None:
        if index != self._hover:
            before, self._hover = self._hover, index
            self._refresh_row(before)
            self._refresh_row(index)
