"""The contents of an archive: a tree, and the beginning of what the cursor is on."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from tui.glyphs import glyphs
from tui.screens.archives.outline import Node
from tui.widgets.folding_table import FoldingTable
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Column, Span, Table, cell


class Contents(Container):
    """Tree and preview."""

    class Chosen(Message):
        """The preview of another line is wanted."""

    def __init__(self) -> None:
        super().__init__(id="contents")
        self.members: FoldingTable[Node] = FoldingTable(_columns(), lambda node: node.key, id="members")
        self.preview = LinesView(id="preview")

    def compose(self) -> ComposeResult:
        """Lay out both."""
        yield self.members
        yield self.preview

    @on(Table.Moved)
    def _move(self, message: Table.Moved) -> None:
        if type(message) is Table.Moved:
            message.stop()
            self.post_message(self.Chosen())

    @property
    def node(self) -> Node | None:
        """The line under the cursor."""
        return self.members.row

    def show(self, nodes: Sequence[Node]) -> None:
        """Replace the lines of the tree."""
        self.members.show(nodes)
        if not nodes:
            self.preview.show(())


def _columns() -> list[Column[Node]]:
    return [
        Column("label", "NAME", lambda node, _: _label(node), None, 16, grow=3),
        Column("amount", "SIZE", lambda node, _: cell(node.amount, "muted"), None, 6, right=True, drop=1),
        Column("note", "", lambda node, _: _note(node), None, 12, grow=2, drop=2),
    ]


def _label(node: Node) -> Cell:
    signs = glyphs()
    fold = "  " if node.open is None else f"{signs.down if node.open else signs.pointer} "
    parts = (Span("  " * node.depth), Span(fold, "muted"))
    if node.refused:
        return (*parts, Span(f"{signs.warning} {node.label}", "warn"))
    return (*parts, Span(node.label, "strong" if node.open is not None else ""))


def _note(node: Node) -> Cell:
    return cell(node.note, "bad" if node.refused else "muted")
