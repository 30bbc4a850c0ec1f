"""The baseline of the first frame: a bare Textual app with the widgets of Pinfold's first screen, empty."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.containers import Horizontal, Vertical

from tui.widgets.empty_state import EmptyState
from tui.widgets.key_bar import KeyBar
from tui.widgets.source_view import SourceView
from tui.widgets.tab_strip import TabStrip
from tui.widgets.table import Column, Table, cell
from tui.widgets.title_line import TitleLine
from tui.widgets.top_bar import BarFacts, TopBar


def empty_table() -> Table[str]:
    """A table of seven columns without rows."""
    columns: list[Column[str]] = [Column(str(index), f"COLUMN {index}", lambda row, _: cell(row)) for index in range(7)]
    return Table(columns, lambda row: row)


class EmptyApp(App[None]):
    """The widgets, laid out alike."""

    CSS = "TopBar, KeyBar, TitleLine, TabStrip { height: 1; } TopBar { dock: top; } KeyBar { dock: bottom; }"

    def compose(self) -> ComposeResult:
        """Lay out the widgets."""
        yield TopBar(BarFacts("agents"))
        with Horizontal():
            with Vertical():
                yield TitleLine("Agents")
                yield empty_table()
                yield EmptyState()
            with Vertical():
                yield TitleLine("Agent")
                yield TabStrip((("config", "Config"), ("source", "Source"), ("sessions", "Sessions")))
                yield empty_table()
                yield EmptyState()
                yield SourceView()
                yield empty_table()
                yield EmptyState()
        yield KeyBar()


if __name__ == "__main__":
    EmptyApp().run()
