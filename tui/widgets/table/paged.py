"""A table of any number of rows that holds only those near the ones on screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from textual.geometry import Size
from textual.message import Message

from tui.widgets.table.cells import Cell
from tui.widgets.table.columns import Column
from tui.widgets.table.rows_view import HEADER
from tui.widgets.table.table import Table

R = TypeVar("R")

_LEAST = 100
_SCREENS = 3
UNKNOWN = ""
"""Stands where a row is that was not read yet."""


@dataclass(frozen=True)
class Window:
    """Which rows are wanted.

    Attributes:
        start: The place of the first, counted from 0.
        limit: How many.
    """

    start: int
    limit: int


class _Places(Sequence[str]):
    """The keys of all rows, known for one stretch of them.

    Args:
        start: Where the stretch begins.
        keys: Of the stretch.
        total: How many rows there are.
    """

    def __init__(self, start: int = 0, keys: Sequence[str] = (), total: int = 0) -> None:
        self.start = start
        self.keys = tuple(keys)
        self.total = max(total, start + len(self.keys)) if self.keys else total

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self.total))]
        place = (index if index >= 0 else self.total + index) - self.start
        return self.keys[place] if 0 <= place < len(self.keys) else UNKNOWN

    def __contains__(self, key: object) -> bool:
        return key in self.keys

    def index(self, key: str, start: int = 0, stop: int | None = None) -> int:
        """The place of a key of the stretch."""
        return self.start + self.keys.index(key)

    def covers(self, first: int, end: int) -> bool:
        """Whether all rows from `first` up to `end` are known."""
        return self.start <= first and min(end, self.total) <= self.start + len(self.keys)


class PagedTable(Table[R]):
    """Asks for rows when they come near the screen; cursor and marks stay on their rows while others come and go.

    Args:
        columns: From left to right.
        key: The name of a row, never empty.
        id: Textual's id.
    """

    class Wanted(Message):
        """Rows are needed that are not here."""

        def __init__(self, table: PagedTable[Any], window: Window) -> None:
            super().__init__()
            self.table = table
            self.window = window

    class MarkAllAsked(Message):
        """The operator wants every row marked, also those that are not here."""

        def __init__(self, table: PagedTable[Any]) -> None:
            super().__init__()
            self.table = table

    def __init__(self, columns: Sequence[Column[R]], key: Callable[[R], str], *, id: str | None = None) -> None:
        super().__init__(columns, key, id=id)
        self._places = _Places()
        self._view = self._places
        self._asked: Window | None = None
        self.filterable = True

    def set_columns(self, columns: Sequence[Column[R]]) -> None:
        """Show other columns."""
        self._columns = tuple(columns)
        self._placed_for = -1
        self._drawn.clear()
        self.refresh()

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Iterable[R]) -> None:
        """Replace all rows by these few."""
        known = list(rows)
        self.show_page(known, 0, len(known))

    def clear(self) -> None:
        """Hold no row, and go to the top."""
        self._marks.clear()
        self._cursor = 0
        self.scroll_to(y=0, animate=False, force=True)
        self.show_page((), 0, 0)

    def show_page(self, rows: Sequence[R], start: int, total: int, place: int | None = None) -> None:
        """Hold these rows and no others; cursor and scroll stay with the row the cursor is on.

        Args:
            rows: A stretch of all rows.
            start: The place of the first.
            total: How many there are in all.
            place: Where the cursor's row is, or would be now that it is gone; None leaves it where it is.
        """
        before = self._places
        held = self.cursor_key
        height = self._cursor - self.scroll_offset.y
        self._rows = {self._key(row): row for row in rows}
        self._places = _Places(start, [self._key(row) for row in rows], total)
        self._view = self._places
        self._asked = None
        if held in self._places:
            self._cursor = self._places.index(held)
        elif held and place is not None:
            self._cursor = place
        self._cursor = max(min(self._cursor, len(self._places) - 1), 0)
        self.virtual_size = Size(0, len(self._places) + HEADER)
        if self._cursor - self.scroll_offset.y != height and len(before):
            self.scroll_to(y=max(self._cursor - height, 0), animate=False, force=True)
        if bool(len(before)) != bool(total):
            self.refresh_bindings()
        if (before.keys, before.start) == (self._places.keys, start):
            self.redraw()
        else:
            self._drawn.clear()
            self.refresh()
        if self.cursor_key != held:
            self.post_message(self.Moved(self))
        self._say_visible()

    @property
    def window(self) -> Window:
        """The rows to hold as the table stands: some screens around the visible ones."""
        visible = self._visible_range()
        height = max(self.size.height - HEADER, 1)
        around = max(height * _SCREENS, _LEAST)
        return Window(max(visible.start - around // 2, 0), height + around)

    @property
    def cursor_key(self) -> str:
        """The key of the row under the cursor; "" when there is none, or it is not here."""
        return self._places[self._cursor] if len(self._places) else UNKNOWN

    @property
    def cursor_place(self) -> int:
        """Where the cursor stands, counted from 0."""
        return self._cursor

    @property
    def rows(self) -> tuple[R, ...]:
        """The rows that are here."""
        return tuple(self._rows.values())

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._places)

    @property
    def visible_rows(self) -> tuple[R, ...]:
        """The rows on screen that are here."""
        keys = (self._places[index] for index in self._visible_range())
        return tuple(self._rows[key] for key in keys if key)

    @property
    def row(self) -> R | None:
        """The row under the cursor, if it is here."""
        return self._rows.get(self.cursor_key)

    # ── marks ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def marks(self) -> tuple[str, ...]:
        """The keys of the marked rows, sorted; they need not be here."""
        return tuple(sorted(self._marks))

    @property
    def marked(self) -> tuple[R, ...]:
        """The marked rows that are here."""
        return tuple(row for key, row in self._rows.items() if key in self._marks)

    def mark(self, keys: Iterable[str]) -> None:
        """Mark rows by their keys and no others."""
        self._marks = set(keys)
        self.refresh()
        self.post_message(self.MarksChanged(self))

    def action_mark(self) -> None:
        """Mark the row, or take its mark away, and go on to the next."""
        if self.cursor_key:
            super().action_mark()

    def action_mark_all(self) -> None:
        """Ask for every row to be marked; take all marks away when there are any."""
        if self._marks:
            self.mark(())
        else:
            self.post_message(self.MarkAllAsked(self))

    # ── drawing and moving ────────────────────────────────────────────────────────────────────────────────────

    def _cells(self, key: str) -> tuple[Cell, ...]:
        if key not in self._rows:
            return tuple(() for _ in self._placed)
        return super()._cells(key)

    def _say_visible(self) -> None:
        super()._say_visible()
        visible = self._visible_range()
        if len(self._places) and not self._places.covers(visible.start, visible.stop) and self._asked != self.window:
            self._asked = self.window
            self.post_message(self.Wanted(self, self._asked))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what this table can do."""
        if action == "filter":
            return self.filterable
        if action in ("sort", "reverse"):
            return False
        return super().check_action(action, parameters)
