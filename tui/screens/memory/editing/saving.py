"""What a change writes, before it is written; and both sides of a conflict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from tui.screens.dialog import Dialog
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, cell

Choice = Literal["mine", "theirs"]


class _Compared(Dialog[Choice]):
    """Shows differences, with buttons below that answer by their id.

    Args:
        heading: The question, clean.
        lines: The differences.
        said: What follows from them, clean.
        buttons: Ids and labels; the first has the focus.
        danger: Something may be lost.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(8)", show=False),
        Binding("pageup", "scroll(-8)", show=False),
    ]

    def __init__(
        self,
        heading: str,
        lines: Sequence[Cell],
        said: str,
        buttons: Sequence[tuple[str, str]],
        *,
        danger: bool,
    ) -> None:
        super().__init__(classes="difference")
        self._heading = heading
        self._lines = tuple(lines)
        self._said = said
        self._buttons = tuple(buttons)
        self._danger = danger

    def compose(self) -> ComposeResult:
        """Lay out differences and buttons."""
        with Vertical(id="box", classes="danger" if self._danger else ""):
            yield Static(Content(self._heading), id="heading")
            yield LinesView(self._lines or [cell("nothing differs", "muted")], id="lines")
            if self._said:
                yield Static(Content(self._said), id="consequence")
            with Horizontal(id="buttons"):
                for name, label in self._buttons:
                    yield Button(label, id=name, compact=True)

    def on_mount(self) -> None:
        """Start on the first answer."""
        self.query_one(f"#{self._buttons[0][0]}").focus()

    def action_scroll(self, by: int) -> None:
        """Scroll the differences."""
        self.query_one(LinesView).scroll_relative(y=by, animate=False)

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        answers: dict[str | None, Choice] = {"yes": "mine", "mine": "mine", "theirs": "theirs"}
        self.dismiss(answers.get(message.button.id))


class SaveChange(_Compared):
    """Answers whether to write.

    Args:
        name: What is written, clean.
        lines: How it differs.
        said: What stays or happens with it, clean.
    """

    def __init__(self, name: str, lines: Sequence[Cell], said: str) -> None:
        super().__init__(f"Save {name}?", lines, said, (("yes", "Save"), ("cancel", "Cancel")), danger=False)


class ResolveConflict(_Compared):
    """Answers whose version stays; nothing while it is left open.

    Args:
        name: What is written, clean.
        lines: How what is typed differs from what somebody else stored.
        gone: Somebody deleted it.
    """

    def __init__(self, name: str, lines: Sequence[Cell], *, gone: bool) -> None:
        super().__init__(
            f"{name} was {'deleted' if gone else 'changed'} meanwhile",
            lines,
            "- is stored now, + is yours. Nothing was written yet.",
            (("cancel", "Go on editing"), ("theirs", "Take theirs"), ("mine", "Write mine")),
            danger=True,
        )
