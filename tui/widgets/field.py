"""One line of a form: a label, what is typed or chosen, and where the value comes from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static


class Field(Horizontal):
    """Holds one input with its label.

    Args:
        label: A word.
        control: What takes the value.
        note: Clean text behind it.
    """

    def __init__(self, label: str, control: Widget, note: str = "") -> None:
        super().__init__(classes="field")
        self._label = label
        self._control = control
        self._note = note

    def compose(self) -> ComposeResult:
        """Lay out label, control and note."""
        yield Static(Content(self._label), classes="label")
        yield self._control
        if self._note:
            yield Static(Content(self._note), classes="note")
