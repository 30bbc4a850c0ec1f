"""A box to try what an agent may do: a question, a line to type in, and the answer while typing."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui.widgets.choice import Choice
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell
from tui.widgets.typing_line import TypingLine


class TryBox(Vertical):
    """Asks a question again with every character typed.

    Args:
        questions: Words for what may be asked, and of each an example.
    """

    BINDINGS = [
        Binding("up", "question(-1)", show=False),
        Binding("down", "question(1)", show=False),
    ]

    class Asked(Message):
        """An answer is wanted; `typed` is as it stands in the line."""

        def __init__(self, question: str, typed: str) -> None:
            super().__init__()
            self.question = question
            self.typed = typed

    def __init__(self, questions: Sequence[tuple[str, str]]) -> None:
        super().__init__(id="try")
        self._examples = dict(questions)
        first = questions[0][0]
        self._choice = Choice([(word, word) for word, _ in questions], first, id="question")
        self._line = TypingLine(placeholder=self._placeholder(first), id="asked")
        self._answer = LinesView(id="answer")

    def compose(self) -> ComposeResult:
        """Lay out question, line and answer."""
        with Horizontal(classes="row"):
            yield Static(Content("Try"), classes="label")
            yield self._choice
        with Horizontal(classes="row"):
            yield Static(Content(""), classes="label")
            yield self._line
        yield self._answer

    def _placeholder(self, question: str) -> str:
        return f"such as {self._examples[question]}; up and down ask something else"

    def ask_again(self) -> None:
        """Ask the same again, of a policy that changed."""
        if self._line.value:
            self.post_message(self.Asked(self._choice.value, self._line.value))

    def begin(self) -> None:
        """Let the operator type."""
        self._line.focus()

    @property
    def answer_width(self) -> int:
        """Columns of the terminal an answer has."""
        return max(self._answer.size.width - 1, 20)

    def show_answer(self, lines: Sequence[Cell]) -> None:
        """Show the answer."""
        self._answer.show(lines)
        self._answer.scroll_home(animate=False)
        self.set_class(bool(lines), "-answered")

    def action_question(self, by: int) -> None:
        """Ask something else about what is typed."""
        self._choice.action_step(by)

    @on(Choice.Changed)
    def _other_question(self, message: Choice.Changed) -> None:
        message.stop()
        self._line.placeholder = self._placeholder(self._choice.value)
        self._ask()

    @on(Input.Changed)
    def _retyped(self, message: Input.Changed) -> None:
        message.stop()
        self._ask()

    @on(Input.Submitted)
    def _submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self._ask()

    def _ask(self) -> None:
        if self._line.value:
            self.post_message(self.Asked(self._choice.value, self._line.value))
        else:
            self.post_message(self.Asked(self._choice.value, ""))
            self.show_answer(())

    def on_click(self, event: events.Click) -> None:
        """Let a click on the label begin, too."""
        if event.widget is not None and event.widget.has_class("label"):
            self.begin()
