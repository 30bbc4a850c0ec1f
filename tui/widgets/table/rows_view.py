"""The rows of a table: which are shown, in which order, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.glyphs import glyphs
from tui.widgets.table.cells import Cell, fit
from tui.widgets.table.columns import Column, Placed, place

R = TypeVar("R")

GUTTER = 3
HEADER = 1


class RowsView(Generic[R], ScrollView, can_focus=True):
    """Rows under a heading, one line each.

    Rows are any frozen objects; columns are functions of a row, called only for rows on screen. The cursor and the
    marks belong to rows, not to lines, so that they stay when rows come, go or change places.

    Args:
        columns: From left to right.
        key: The name of a row, which stays the same while the row changes.
        text: What the filter looks in; leave it out to have no filter.
        sort: The key of the column to sort by at first; "" keeps the order of `show`.
        reverse: Sort downwards at first.
        id: Textual's id.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "table--header",
        "table--row",
        "table--cursor",
        "table--hover",
        "table--marked",
        "table--muted",
        "table--strong",
        "table--accent",
        "table--good",
        "table--warn",
        "table--bad",
    }

    class Moved(Message):
        """The cursor stands on another row, or none."""

        def __init__(self, table: RowsView[Any]) -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> RowsView[Any]:
            """The table."""
            return self.table

    class Opened(Moved):
        """A row was chosen with enter or a double click."""

    class MarksChanged(Moved):
        """Rows were marked, or marks taken away."""

    class VisibleChanged(Moved):
        """Other rows are on screen now."""

    class FilterAsked(Moved):
        """The operator wants to filter."""

    def __init__(
        self,
        columns: Sequence[Column[R]],
        key: Callable[[R], str],
        *,
        text: Callable[[R], str] | None = None,
        sort: str = "",
        reverse: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._key = key
        self._text = text
        self._sort = sort
        self._reverse = reverse
        self._filter = ""
        self._rows: dict[str, R] = {}
        self._view: Sequence[str] = []
        self._cursor = 0
        self._marks: set[str] = set()
        self._hover = -1
        self._placed: tuple[Placed[R], ...] = ()
        self._placed_for = -1
        self._drawn: dict[str, tuple[Cell, ...]] = {}
        self._visible_said: tuple[str, ...] = ()

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Iterable[R]) -> None:
        """Replace the rows; paints only cells that differ."""
        self._rows = {self._key(row): row for row in rows}
        if gone := self._marks - self._rows.keys():
            self._marks -= gone
            self.post_message(self.MarksChanged(self))
        self._arrange()

    def redraw(self) -> None:
        """Look at the visible rows again, for cells that change with time or from elsewhere, and paint what differs."""
        for index in self._visible_range():
            key = self._view[index]
            before = self._drawn.get(key)
            y = index + HEADER - self.scroll_offset.y
            if before is None:
                self.refresh(Region(0, y, self.size.width, 1))
                continue
            now = self._cells(key)
            if now == before:
                continue
            self._drawn[key] = now
            self.refresh(
                *(
                    Region(placed.x, y, placed.width, 1)
                    for placed, old, new in zip(self._placed, before, now, strict=True)
                    if old != new
                )
            )

    @property
    def rows(self) -> tuple[R, ...]:
        """All rows that pass the filter, in the order shown."""
        return tuple(self._rows[key] for key in self._view)

    @property
    def total(self) -> int:
        """How many rows there are, the filtered out ones too."""
        return len(self._rows)

    @property
    def visible_rows(self) -> tuple[R, ...]:
        """The rows on screen."""
        return tuple(self._rows[self._view[index]] for index in self._visible_range())

    @property
    def row(self) -> R | None:
        """The row under the cursor."""
        return self._rows[self._view[self._cursor]] if self._view else None

    @property
    def marked(self) -> tuple[R, ...]:
        """The marked rows in the order shown, then those the filter hides."""
        shown = [key for key in self._view if key in self._marks]
        hidden = [key for key in self._rows if key in self._marks and key not in shown]
        return tuple(self._rows[key] for key in (*shown, *hidden))

    def clear_marks(self) -> None:
        """Take all marks away."""
        if self._marks:
            self._marks.clear()
            self.refresh()
            self.post_message(self.MarksChanged(self))

    def move_to(self, key: str) -> bool:
        """Put the cursor on a row; False when it is not shown."""
        if key not in self._view:
            return False
        self._go(self._view.index(key))
        return True

    def filter(self, text: str) -> None:
        """Show only rows that contain each word of `text`, whatever its case."""
        if text != self._filter:
            self._filter = text
            self._arrange()

    @property
    def filter_text(self) -> str:
        """What is filtered for now."""
        return self._filter

    # ── order ─────────────────────────────────────────────────────────────────────────────────────────────────

    def sort_by(self, key: str) -> None:
        """Sort by a column; downwards when it is the one already."""
        self._reverse = not self._reverse if key == self._sort else False
        self._sort = key
        self._arrange()
        self.refresh()

    def _arrange(self) -> None:
        """Build the list of rows shown, with the cursor on its row and at its height on screen."""
        before = self._view
        held = before[self._cursor] if before else None
        height = self._cursor - self.scroll_offset.y
        words = self._filter.casefold().split()
        text = self._text
        keys = [
            key
            for key, row in self._rows.items()
            if not words or text is None or all(word in text(row).casefold() for word in words)
        ]
        order = next((column.order for column in self._columns if column.key == self._sort), None)
        if order is not None:
            keys.sort(key=lambda key: order(self._rows[key]), reverse=self._reverse)
        self._view = keys
        if bool(keys) != bool(before):
            self.refresh_bindings()
        if held is not None and held in self._rows and held in keys:
            self._cursor = keys.index(held)
        else:
            self._cursor = max(min(self._cursor, len(keys) - 1), 0)
        self.virtual_size = Size(0, len(keys) + HEADER)
        if self._cursor - self.scroll_offset.y != height and before:
            self.scroll_to(y=max(self._cursor - height, 0), animate=False, force=True)
        if keys == before:
            self.redraw()
        else:
            self.refresh()
        if (keys[self._cursor] if keys else None) != held:
            self.post_message(self.Moved(self))
        self._say_visible()

    # ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────

    def _cells(self, key: str) -> tuple[Cell, ...]:
        row = self._rows[key]
        return tuple(placed.column.draw(row, placed.width) for placed in self._placed)

    def _visible_range(self) -> range:
        first = self.scroll_offset.y
        return range(first, min(first + max(self.size.height - HEADER, 0), len(self._view)))

    def _share_out(self) -> int:
        """Place the columns anew when there is more or less room, as when a scrollbar comes; returns the width."""
        width = self.scrollable_content_region.width
        if width != self._placed_for:
            self._placed_for = width
            self._placed = place(self._columns, width, indent=GUTTER)
            self._drawn.clear()
        return width

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self._share_out()
        if y == 0:
            return self._header(width)
        index = y - HEADER + self.scroll_offset.y
        base = self.get_component_rich_style("table--row")
        if not 0 <= index < len(self._view):
            return Strip.blank(width, base)
        key = self._view[index]
        cells = self._drawn[key] = self._cells(key)
        at_cursor = index == self._cursor
        if at_cursor:
            base += self.get_component_rich_style("table--cursor", partial=True)
        elif key in self._marks:
            base += self.get_component_rich_style("table--marked", partial=True)
        elif index == self._hover:
            base += self.get_component_rich_style("table--hover", partial=True)
        solid = bool(base.reverse)  # tones on a reversed row would be patches
        signs = glyphs()
        mark = signs.mark if key in self._marks else " "
        pointer = signs.pointer if at_cursor else " "
        accent = self.get_component_rich_style("table--accent", partial=True)
        segments = [Segment(f"{mark}{pointer} ", base if solid else base + accent)]
        x = GUTTER
        for placed, spans in zip(self._placed, cells, strict=True):
            if placed.x > x:
                segments.append(Segment(" " * (placed.x - x), base))
            for text, tone in fit(spans, placed.width, right=placed.column.right, ellipsis=signs.ellipsis):
                style = base
                if tone and not solid:
                    style += self.get_component_rich_style(f"table--{tone}", partial=True)
                segments.append(Segment(text, style))
            x = placed.x + placed.width
        return Strip(segments).adjust_cell_length(width, base)

    def _header(self, width: int) -> Strip:
        style = self.get_component_rich_style("table--header")
        strong = style + Style(bold=True)
        signs = glyphs()
        segments = [Segment(" " * GUTTER, style)]
        x = GUTTER
        for placed in self._placed:
            if placed.x > x:
                segments.append(Segment(" " * (placed.x - x), style))
            sorted_by = placed.column.key == self._sort and placed.column.order is not None
            arrow = (signs.down if self._reverse else signs.up) if sorted_by else ""
            label = f"{placed.column.label}{arrow}"
            text = label.rjust(placed.width) if placed.column.right else label.ljust(placed.width)
            segments.append(Segment(text[: placed.width], strong if sorted_by else style))
            x = placed.x + placed.width
        return Strip(segments).adjust_cell_length(width, style)

    def notify_style_update(self) -> None:
        """Draw everything again in the new colours."""
        self._drawn.clear()
        super().notify_style_update()
        self.refresh()

    def on_resize(self) -> None:
        """Share the new width out, and keep the cursor in sight."""
        self._share_out()
        self._keep_in_sight()
        self.refresh()
        self._say_visible()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Say which rows are on screen after scrolling."""
        super().watch_scroll_y(old_value, new_value)
        if self.is_mounted:
            self._say_visible()

    def _say_visible(self) -> None:
        visible = tuple(self._view[index] for index in self._visible_range())
        if visible != self._visible_said:
            self._visible_said = visible
            self.post_message(self.VisibleChanged(self))

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────

    def _go(self, index: int) -> None:
        index = max(min(index, len(self._view) - 1), 0)
        if index == self._cursor:
            self._keep_in_sight()
            return
        self._refresh_row(self._cursor)
        self._cursor = index
        self._refresh_row(index)
        self._keep_in_sight()
        self.post_message(self.Moved(self))

    def _refresh_row(self, index: int) -> None:
        self.refresh(Region(0, index + HEADER - self.scroll_offset.y, self.size.width, 1))

    def _keep_in_sight(self) -> None:
        page = max(self.size.height - HEADER, 1)
        first = self.scroll_offset.y
        if self._cursor < first:
            self.scroll_to(y=self._cursor, animate=False, force=True)
        elif self._cursor >= first + page:
            self.scroll_to(y=self._cursor - page + 1, animate=False, force=True)
