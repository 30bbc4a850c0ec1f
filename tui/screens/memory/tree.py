"""The pane with the tree of places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.glyphs import glyphs
from tui.widgets.folding_table import FoldingTable
from tui.widgets.list_pane import ListPane
from tui.widgets.table import Cell, Column, Span, Table, cell
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from tui.screens.memory.outline import Node
    from tui.screens.memory.places import Place


class TreeTable(FoldingTable["Node"]):
    """Lines of the tree; left and right fold and unfold, and right goes from the last line on to the rows."""

    def action_unfold(self) -> None:
        """Show what is below the line; on a line without anything, open it."""
        if (node := self.row) is not None and node.open is None:
            self.action_open()
        else:
            super().action_unfold()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer no marks: what is done to many is done to rows."""
        return action not in ("mark", "mark_all") and super().check_action(action, parameters)


class TreePane(ListPane["Node"]):
    """Scopes and agents, and what the table shows of them."""

    def __init__(self) -> None:
        super().__init__(
            "Memory",
            TreeTable(_columns(), lambda node: node.key, text=lambda node: f"{node.label} {node.problem}"),
            id="tree",
        )
        self._aim: Place | None = None

    def show(self, rows: Sequence[Node]) -> None:
        """Replace the lines. That one went from under the cursor moves nobody: the table stays where it is."""
        with self.table.prevent(Table.Moved):
            super().show(rows)
            self.aim(self._aim)

    def aim(self, place: Place | None) -> None:
        """Put the cursor on the line of a place, as soon as there is one; None stays where it is."""
        self._aim = place
        if place is None or self.place == place:
            self._aim = None
        elif (line := next((node for node in self.table.rows if node.place == place), None)) is not None:
            self._aim = None
            self.table.move_to(line.key)

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
