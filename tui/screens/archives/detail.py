"""All about one entry: facts, contents, steps, what verifying and what comparing found."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from tui.screens.archives.contents import Contents
from tui.widgets.empty_state import EmptyState
from tui.widgets.lines_view import LinesView
from tui.widgets.pane import Pane
from tui.widgets.tab_strip import TabStrip
from tui.widgets.table import Cell
from tui.widgets.title_line import TitleLine

TABS = (
    ("facts", "Facts"),
    ("contents", "Contents"),
    ("steps", "Steps"),
    ("verified", "Verified"),
    ("compared", "Compared"),
)

_NOTHING = {
    "contents": ("Nothing to look into", "There is no archive that can be read."),
    "steps": ("No steps", "No operation of this home made it."),
    "verified": ("Not verified here yet", "Verifying recomputes every checksum, file by file."),
    "compared": ("Not compared yet", "Comparing sets it against a living agent or another archive."),
}


class EntryDetail(Pane):
    """Five tabs about one entry."""

    class Turned(Message):
        """Another tab is shown."""

    def __init__(self) -> None:
        super().__init__(id="detail")
        self._tabs = TabStrip(TABS)
        self._pages = {name: LinesView(id=name) for name, _ in TABS if name != "contents"}
        self._filled = {name: False for name, _ in TABS}
        self.contents = Contents()
        self._nothing = EmptyState()

    def compose(self) -> ComposeResult:
        """Lay out title, tabs and pages."""
        yield TitleLine("Archive")
        yield self._tabs
        yield self.contents
        yield from self._pages.values()
        yield self._nothing

    def on_mount(self) -> None:
        """Show the first page."""
        self._turn()

    @property
    def tab(self) -> str:
        """The page shown."""
        return self._tabs.chosen

    def turn_to(self, tab: str) -> None:
        """Show one page."""
        self._tabs.chosen = tab

    def step_tab(self, by: int) -> None:
        """Turn some pages further."""
        self._tabs.step(by)

    def say(self, title: str | None = None, status: str | None = None) -> None:
        """Say what is shown and how it stands, in clean text."""
        self.query_one(TitleLine).show(title, status)

    def show(self, tab: str, lines: Sequence[Cell]) -> None:
        """Replace the lines of a page; without any, words stand in their place."""
        self._pages[tab].show(lines)
        self._fill(tab, bool(lines))

    def fill_contents(self, full: bool) -> None:
        """Say whether there are contents to show."""
        self._fill("contents", full)

    def _fill(self, tab: str, full: bool) -> None:
        if self._filled[tab] != full:
            self._filled[tab] = full
            self._turn()

    def focus_page(self) -> None:
        """Give the page shown the focus."""
        if self.tab == "contents":
            self.contents.members.focus()
        else:
            self._pages[self.tab].focus()

    @on(TabStrip.Chosen)
    def _turn_over(self) -> None:
        focused = self.has_focus_within
        self._turn()
        if focused:
            self.focus_page()
        self.post_message(self.Turned())

    def _turn(self) -> None:
        shown = self._filled[self.tab]
        pages: dict[str, Widget] = {**self._pages, "contents": self.contents}
        for name, page in pages.items():
            page.display = name == self.tab and shown
        self._nothing.display = not shown and self.tab in _NOTHING
        if self._nothing.display:
            heading, line = _NOTHING[self.tab]
            self._nothing.show(heading, (line,))
