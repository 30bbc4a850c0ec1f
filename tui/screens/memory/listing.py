"""The pane with the rows of one place."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from services.errors import PinfoldError
from tui.screens.memory.columns import Now, columns_of
from tui.screens.memory.items import Item
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    ScopeKeys,
    ScopesOf,
)
from tui.screens.memory.sources import Part
from tui.text import safe
from tui.widgets.empty_state import EmptyState
from tui.widgets.pane import Pane
from tui.widgets.table import PagedTable, Table
from tui.widgets.title_line import TitleLine
from tui.widgets.typing_line import TypingLine


class AskLine(TypingLine):
    """Where a filter, words to recall, or a search is typed; enter keeps it, escape drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", show=False),
        Binding("down,tab", "keep", show=False),
    ]

    def action_drop(self) -> None:
        """Ask for everything again."""
        self.value = ""
        self.action_keep()

    def action_keep(self) -> None:
        """Go back to the rows."""
        self.post_message(Input.Submitted(self, self.value))


class Listing(Pane):
    """Shows one place.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    class Filtered(Message):
        """Other rows are wanted."""

    def __init__(self, now: Now) -> None:
        super().__init__(id="listing")
        self._now = now
        self.place: Place | None = None
        self.text = ""
        self._status = ""
        self.table: PagedTable[Item] = PagedTable([], lambda item: item.key, id="rows")
        self._words = EmptyState()

    def compose(self) -> ComposeResult:
        """Lay out title, rows and what stands in their place."""
        yield TitleLine("Rows")
        yield self.table
        yield self._words

    def turn_to(self, place: Place | None, text: str = "") -> None:
        """Show another place, or none; its rows come later."""
        self.place, self.text = place, text
        for line in self.query(AskLine):
            line.remove()
        self.table.clear()
        self.table.filterable = isinstance(place, ScopeKeys | AgentRows | ArchiveOf)
        self.table.set_columns(columns_of(place, self._now) if place is not None else [])
        self.set_class(False, "-empty")
        if place is None:
            self.settle()
        self._say_title()

    def on_mount(self) -> None:
        """Begin without a place."""
        self.settle()

    def show(self, part: Part) -> None:
        """Take in rows of the place."""
        self.table.show_page(part.rows, part.start, part.total, part.place)
        self.settle()

    def settle(self) -> None:
        """Say what stands here when there is no row."""
        empty = self.table.total == 0
        self.set_class(empty, "-empty")
        if empty:
            self._words.show(*_nothing(self.place, self.text))
        self._say_title()

    def refuse(self, error: PinfoldError) -> None:
        """Say why the rows cannot be read."""
        self.table.clear()
        self.set_class(True, "-empty")
        self._words.show(safe(error.what), tuple(safe(text) for text in (error.why, error.fix) if text))
        self._say_title()

    def say(self, status: str) -> None:
        """Say on the right of the title how something long goes on; "" ends it."""
        self._status = status
        self._say_title()

    def _say_title(self) -> None:
        title = self.place.title if self.place is not None else "Rows"
        if self.table.total:
            title += f"  {self.table.total:,}"
        if marks := len(self.table.marks):
            title += f", {marks:,} marked"
        word = "recall" if isinstance(self.place, AgentRows) else "filter"
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}…"
        asked = f"{word}: {safe(shown)}" if self.text else ""
        self.query_one(TitleLine).show(title, self._status or asked)

    @on(Table.MarksChanged)
    def _count_marks(self) -> None:
        self._say_title()

    # ── filter ────────────────────────────────────────────────────────────────────────────────────────────────

    @on(Table.FilterAsked)
    def ask(self) -> None:
        """Let the operator type what the rows must have."""
        lines = self.query(AskLine)
        if lines:
            lines.first().focus()
            return
        hint = "a text the key contains, or a pattern with *"
        if not isinstance(self.place, ScopeKeys):
            hint = "recall by words; foo* is every word that begins so"
        line = AskLine(self.text, placeholder=hint)
        self.mount(line, after=self.query_one(TitleLine))
        line.focus()

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        if isinstance(message.input, AskLine):
            try:
                text = message.input.text
            except ValueError:  # half an escape; the rest is still to come
                return
            if text != self.text:
                self.text = text
                self.post_message(self.Filtered())

    @on(Input.Submitted)
    def _given(self, message: Input.Submitted) -> None:
        message.stop()
        message.input.remove()
        self.table.focus()

    def drop_filter(self) -> bool:
        """Show every row again; False when all are shown."""
        if not self.text:
            return False
        self.text = ""
        self.post_message(self.Filtered())
        return True


_LIVES: dict[str, str] = {
    "user": "until they are deleted",
    "team": "until they are deleted",
    "chat": "24 hours, unless they are given another time",
    "context": "30 minutes, unless they are given another time",
}
_Words = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]


def _nothing(place: Place | None, text: str) -> _Words:
    if place is None:
        return (
            "Choose a place on the left",
            ("Scopes hold keys; agents remember rows, blocks and archive entries.",),
            (),
        )
    if text:
        return "Nothing fits", ("No row has what you typed.",), (("esc", "show every row"),)
    match place:
        case ScopesOf():
            return (
                f"Keys of {place.title}",
                (f"They live {_LIVES[place.kind]}.", "Those that have any are below it on the left."),
                (("n", f"set a key of any {place.kind}"), ("s", "search everything")),
            )
        case ScopeKeys():
            return (
                "No keys",
                ("What expires goes by itself; what is set shows here within a second.",),
                (("n", "set one"),),
            )
        case AgentRows():
            return "Nothing remembered yet", ("What this agent stores shows here within a second.",), (("n", "store"),)
        case ArchiveOf():
            return "Nothing put away yet", ("Archive entries are found by their words.",), (("n", "put away"),)
        case OpenContexts():
            return "No context is open", ("Open ones, and those that can be resumed, show here.",), (("n", "open one"),)
        case FoundRows():
            return "Nothing found", ("No scope, agent, block or archive has this text.",), (("s", "search again"),)
        case CoreBlocksOf():
            return "No blocks", (), ()
    return "No steps", ("What is done in the context shows here.",), ()
