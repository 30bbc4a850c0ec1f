"""Before archives are removed for good: what goes, and the alias typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tui.figures import counted, moment, size
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.typed import written_out
from tui.widgets.field import Field
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Span
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.archives import Archive

_MOST = 2000


def archive_line(archive: Archive) -> Cell:
    """One archive that goes."""
    return (
        Span(f"{safe(archive.id)}  ", "strong"),
        Span(f"{archive.kind.value} of {safe(archive.alias)}  "),
        Span(f"{size(archive.size)}  {moment(archive.created_at)}", "muted"),
    )


def word_to_type(archives: Sequence[Archive]) -> str:
    """What has to be typed: the alias; for archives of several agents, how many there are."""
    aliases = {archive.alias for archive in archives}
    return aliases.pop() if len(aliases) == 1 else str(len(archives))


class Purge(Dialog[bool]):
    """Answers whether to remove archives; only once the alias was typed.

    Args:
        archives: Which, at least one.
    """

    def __init__(self, archives: Sequence[Archive]) -> None:
        super().__init__(id="purge")
        self._archives = tuple(archives)
        self._word = word_to_type(archives)
        self._typed = TypingLine(id="typed")

    def compose(self) -> ComposeResult:
        """Lay out what goes, the question and the buttons."""
        archives = self._archives
        total = size(sum(archive.size for archive in archives))
        what = safe(archives[0].id) if len(archives) == 1 else f"{counted(len(archives), 'archive')}, {total}"
        kind = "the alias" if len({archive.alias for archive in archives}) == 1 else "how many they are"
        with Vertical(id="box", classes="danger"):
            yield Static(Content(f"Purge {what}?"), id="heading")
            yield LinesView([archive_line(archive) for archive in archives[:_MOST]], id="lines")
            yield Static("What is in them is gone for good; activity keeps that they were there.", id="consequence")
            yield Static(Content(f"To purge, type {kind}: {safe(self._word)}"), id="question")
            yield Field("Typed", self._typed)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Purge", id="yes", compact=True, disabled=True)

    def on_mount(self) -> None:
        """Begin on the harmless answer."""
        self.query_one("#cancel").focus()

    @on(Input.Changed)
    def _look(self) -> None:
        self.query_one("#yes", Button).disabled = self._typed.value != written_out(self._word)

    @on(Input.Submitted)
    def _submit(self) -> None:
        self.query_one("#cancel" if self.query_one("#yes").disabled else "#yes").focus()

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss(message.button.id == "yes")
