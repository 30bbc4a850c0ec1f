"""What an archive is compared with: a living agent, or another archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.table import Column, Table, cell


@dataclass(frozen=True)
class Other:
    """Something an archive can be compared with.

    Attributes:
        name: An alias, or the id of an archive.
        living: It is an agent.
        note: For people, clean.
    """

    name: str
    living: bool
    note: str = ""


class ChooseOther(Dialog[Other]):
    """Answers with what the archive is compared with.

    Args:
        archive: Its id.
        others: At least one, the likeliest first.
    """

    def __init__(self, archive: str, others: Sequence[Other]) -> None:
        super().__init__(id="other")
        self._archive = archive
        self._others = tuple(others)
        self._table: Table[Other] = Table(
            [
                Column("name", "COMPARE WITH", lambda one, _: cell(safe(one.name[:200]), "strong"), None, 24, grow=2),
                Column("note", "", lambda one, _: cell(one.note, "muted"), None, 16, grow=2),
            ],
            lambda one: f"{one.living} {one.name}",
            text=lambda one: one.name,
        )

    def compose(self) -> ComposeResult:
        """Lay out the list and the buttons."""
        with Vertical(id="box"):
            yield Static(Content(f"Set {safe(self._archive)} against"), id="heading")
            yield self._table
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Compare", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the likeliest."""
        self._table.styles.height = min(len(self._others), 12) + 1
        self._table.show(self._others)
        self._table.focus()

    @on(Table.Opened)
    def _open(self) -> None:
        self.dismiss(self._table.row)

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss(self._table.row if message.button.id == "yes" else None)
