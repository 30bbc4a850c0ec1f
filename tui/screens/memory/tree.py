"""The pane with the tree of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tui.glyphs import glyphs
from tui.widgets.list_pane import ListPane
from tui.widgets.table import Cell, Column, Span, Table, cell
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from tui.screens.memory.outline import Node
    from tui.screens.memory.places import Place


class TreeTable(Table["Node"]):
    """Lines of the tree; left and right fold and unfold."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "unfold", show=False),
        Binding("h,left", "fold", show=False),
    ]

    class Folded(Message):
        """A line is to show what is below it, or no longer."""

        def __init__(self, key: str, is_open: bool) -> None:
            super().__init__()
            self.key = key
            self.is_open = is_open

    def action_unfold(self) -> None:
        """Show what is below the line."""
        if (node := self.row) is not None and node.open is False:
            self.post_message(self.Folded(node.key, True))
        elif node is not None and node.place is not None:
            self.action_open()

    def action_fold(self) -> None:
        """Show nothing below the line; on a line without any, go to the one above it."""
        node = self.row
        if node is not None and node.open:
            self.post_message(self.Folded(node.key, False))
        elif node is not None and node.depth:
            rows = self.rows
            here = rows.index(node)
            self.move_to(next(rows[place].key for place in range(here, -1, -1) if rows[place].depth < node.depth))


class TreePane(ListPane["Node"]):
    """Scopes and agents, and what the table shows of them."""

    def __init__(self) -> None:
        super().__init__(
            "Memory",
            TreeTable(_columns(), lambda node: node.key, text=lambda node: f"{node.label} {node.problem}"),
            id="tree",
        )

    def _say_title(self) -> None:
        text = self.table.filter_text
        self.query_one(TitleLine).show("Memory", f"filter: {text}" if text else "")

    @property
    def place(self) -> Place | None:
        """What the line under the cursor stands for."""
        node = self.table.row
        return node.place if node is not None else None


def _columns() -> list[Column[Node]]:
    return [
        Column("label", "PLACE", lambda node, _: _label(node), None, 12, grow=1),
        Column("count", "ROWS", lambda node, _: cell(node.count, "muted"), None, 8, right=True, drop=1),
    ]


def _label(node: Node) -> Cell:
    signs = glyphs()
    fold = "  " if node.open is None else f"{signs.down if node.open else signs.pointer} "
    parts = [Span("  " * node.depth), Span(fold, "muted")]
    if node.problem:
        return (*parts, Span(f"{signs.warning} {node.label}", "warn"))
    return (*parts, Span(node.label, "strong" if node.depth == 0 else ""))
