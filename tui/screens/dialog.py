"""A question in the middle of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from tui.text import safe

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """What all dialogs share: a box, escape to leave, arrows between buttons."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (34, "-high")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)


class Confirm(Dialog[bool]):
    """Asks before something that cannot be taken back; says exactly what it will do, and starts on *cancel*.

    Args:
        heading: The question.
        lines: What it concerns, one line each; foreign text is cleaned here.
        consequence: What cannot be taken back.
        yes: The label of the button that does it.
    """

    def __init__(self, heading: str, lines: Sequence[str], consequence: str, yes: str) -> None:
        super().__init__()
        self._heading = heading
        self._lines = tuple(lines)
        self._consequence = consequence
        self._yes = yes

    def compose(self) -> ComposeResult:
        """Lay out question, list and buttons."""
        with Vertical(id="box", classes="danger"):
            yield Static(Content(safe(self._heading)), id="heading")
            with VerticalScroll(id="list", can_focus=False):
                for line in self._lines:
                    yield Static(Content(safe(line)), classes="line")
            if self._consequence:
                yield Static(Content(safe(self._consequence)), id="consequence")
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(Content(safe(self._yes)), id="yes", compact=True)

    def on_mount(self) -> None:
        """Start on the harmless answer."""
        self.query_one("#cancel").focus()

    @on(Button.Pressed)
    def answer(self, message: Button.Pressed) -> None:
        """Close with the answer."""
        self.dismiss(message.button.id == "yes")
