"""A titled table with a filter, and words in its place while it has no rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.widgets.empty_state import EmptyState
from tui.widgets.pane import Pane
from tui.widgets.table import Table
from tui.widgets.title_line import TitleLine

R = TypeVar("R")


class FilterInput(Input):
    """Where the filter is typed; enter keeps it, escape drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "drop the filter", show=False),
        Binding("down,tab", "keep", "keep the filter", show=False),
    ]

    def action_drop(self) -> None:
        """Filter no more."""
        self.value = ""
        self.action_keep()

    def action_keep(self) -> None:
        """Go back to the rows."""
        self.post_message(Input.Submitted(self, self.value))


class ListPane(Generic[R], Pane):
    """Holds one table.

    Args:
        title: What the rows are, such as `Sessions`.
        table: The table.
        id: Textual's id.
    """

    def __init__(self, title: str, table: Table[R], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = title
        self.table = table
        self._words = EmptyState()

    def compose(self) -> ComposeResult:
        """Lay out title, rows and what stands in their place."""
        yield TitleLine(self._title)
        yield self.table
        yield self._words

    def show(self, rows: Sequence[R]) -> None:
        """Replace the rows."""
        self.table.show(rows)
        self._settle()

    def rename(self, title: str) -> None:
        """Change the title."""
        self._title = title
        self._say_title()

    def say_empty(self, heading: str, lines: Sequence[str] = (), keys: Sequence[tuple[str, str]] = ()) -> None:
        """Say what would be here; shown while there are no rows."""
        self._words.show(heading, lines, keys)

    def wait_for(self, what: str, since: float) -> None:
        """Say what is awaited; shown while there are no rows."""
        self._words.wait_for(what, since)

    def on_mount(self) -> None:
        """Start without rows."""
        self._settle()

    def _settle(self) -> None:
        empty = self.table.total == 0
        self.set_class(empty, "-empty")
        self._say_title()

    def _say_title(self) -> None:
        shown, total, text = len(self.table.rows), self.table.total, self.table.filter_text
        title = f"{self._title} {total}" if total else self._title
        if marked := len(self.table.marked):
            title += f", {marked} marked"
        status = f"filter: {text}  {shown} of {total}" if text else ""
        self.query_one(TitleLine).show(title, status)

    @on(Table.MarksChanged)
    def _count_marks(self) -> None:
        self._say_title()

    @on(Table.FilterAsked)
    def _ask_filter(self) -> None:
        inputs = self.query(FilterInput)
        if inputs:
            inputs.first().focus()
            return
        asked = FilterInput(self.table.filter_text, placeholder="filter: words a row must contain", compact=True)
        asked.cursor_blink = False
        self.mount(asked, after=self.query_one(TitleLine))
        asked.focus()

    @on(Input.Changed)
    def _apply_filter(self, message: Input.Changed) -> None:
        message.stop()
        self.table.filter(message.value)
        self._say_title()

    @on(Input.Submitted)
    def _end_filter(self, message: Input.Submitted) -> None:
        message.stop()
        message.input.remove()
        self.table.focus()

    def drop_filter(self) -> bool:
        """Show all rows again; False when all are shown already."""
        if not self.table.filter_text:
            return False
        self.table.filter("")
        self._say_title()
        return True
