"""Where a log pane asks for something: a line to type in, and choices below it."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui.widgets.choice import Choice


class AskBar(Vertical):
    """Asks for one text; enter gives it, escape drops it.

    Args:
        sign: What the text is for: a sign or a word.
        value: The text to begin with.
        placeholder: Shown while there is none.
        choices: What may be chosen beside it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", show=False)]

    class Said(Message):
        """Something was done in a bar."""

        def __init__(self, bar: AskBar) -> None:
            super().__init__()
            self.bar = bar

    class Changed(Said):
        """Text or choices changed."""

    class Answered(Said):
        """The text was given."""

    class Dropped(Said):
        """The operator wants none."""

    def __init__(self, sign: str, value: str, placeholder: str, choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self._sign = sign
        self._choices = choices
        self._input = Input(value, placeholder=placeholder, compact=True, select_on_focus=False)
        self._input.cursor_blink = False

    def compose(self) -> ComposeResult:
        """Lay out text and choices."""
        with Horizontal(classes="ask"):
            yield Static(Content(f"{self._sign} "), classes="sign")
            yield self._input
        with Horizontal(classes="choices"):
            yield from self._choices

    @property
    def text(self) -> str:
        """What is typed now."""
        return self._input.value

    @text.setter
    def text(self, value: str) -> None:
        self._input.value = value

    def on_mount(self) -> None:
        """Let the operator type."""
        self._input.focus()

    def take_key(self, event: events.Key) -> None:
        """Do what a key would do that was pressed before the bar had the focus."""
        if event.character is not None and event.is_printable:
            self.text += event.character
            self._input.cursor_position = len(self.text)
        elif event.key == "backspace":
            self.text = self.text[:-1]
        elif event.key == "enter":
            self.post_message(self.Answered(self))
        elif event.key == "escape":
            self.action_drop()

    def action_drop(self) -> None:
        """Ask no more."""
        self.post_message(self.Dropped(self))

    @on(Input.Changed)
    @on(Choice.Changed)
    def _tell(self, message: Message) -> None:
        message.stop()
        self.post_message(self.Changed(self))

    @on(Input.Submitted)
    def _answer(self, message: Input.Submitted) -> None:
        message.stop()
        self.post_message(self.Answered(self))
