"""A table whose rows are the lines of a tree."""

from __future__ import annotations

from typing import ClassVar, Protocol, TypeVar

from textual.binding import Binding, BindingType
from textual.message import Message

from tui.widgets.table import Table


class Foldable(Protocol):
    """A line of a tree.

    Attributes:
        key: Names it.
        depth: How far it is indented.
        open: Whether what is below it is shown; None where there is nothing below.
    """

    @property
    def key(self) -> str:
        """Names it."""
        ...

    @property
    def depth(self) -> int:
        """How far it is indented."""
        ...

    @property
    def open(self) -> bool | None:
        """Whether what is below it is shown; None where there is nothing below."""
        ...


R = TypeVar("R", bound=Foldable)


class FoldingTable(Table[R]):
    """Lines of a tree; left and right fold and unfold."""

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
        """Show what is below the line; where it is shown, go there."""
        row = self.row
        if row is not None and row.open:
            self.action_down()
        elif row is not None and row.open is False:
            self.post_message(self.Folded(row.key, True))

    def action_fold(self) -> None:
        """Show nothing below the line; on a line without any, go to the one above it."""
        row = self.row
        if row is not None and row.open:
            self.post_message(self.Folded(row.key, False))
        elif row is not None and row.depth:
            rows = self.rows
            here = rows.index(row)
            self.move_to(next(rows[place].key for place in range(here, -1, -1) if rows[place].depth < row.depth))

    def action_open(self) -> None:
        """Fold or unfold the line; open one without anything below."""
        row = self.row
        if row is not None and row.open is not None:
            self.post_message(self.Folded(row.key, not row.open))
        else:
            super().action_open()
