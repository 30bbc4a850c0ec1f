"""Asking for a file, and what to write to it or read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from tui.figures import from_home
from tui.host import host
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field
from tui.widgets.typing_line import TypingLine


@dataclass(frozen=True)
class FileAnswer:
    """A file.

    Attributes:
        what: Which of the options was chosen; "" where there were none.
        replace: It may take the place of one that is there.
    """

    path: Path
    what: str
    replace: bool


class AskFile(Dialog[FileAnswer]):
    """Answers with a file.

    Args:
        heading: What for, clean.
        path: To begin with.
        options: What may be chosen beside it, values and labels.
        writing: The file is written, so one that is there is replaced only when asked for twice; else it is read.
        yes: The label of the button.
    """

    def __init__(
        self, heading: str, path: Path, options: Sequence[tuple[str, str]], *, writing: bool, yes: str
    ) -> None:
        super().__init__(id="file")
        self._heading = heading
        self._path = TypingLine(from_home(str(path)), placeholder="a path")
        self._choice = Choice(options, options[0][0]) if options else None
        self._writing = writing
        self._yes = yes
        self._warned_of: Path | None = None

    def compose(self) -> ComposeResult:
        """Lay out path, options and buttons."""
        with Vertical(id="box"):
            yield Static(Content(self._heading), id="heading")
            yield Field("File", self._path)
            if self._choice is not None:
                yield Field("What", self._choice)
            yield Static(id="problem", classes="problem", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button(self._yes, id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the path."""
        self._path.focus()
        self._path.cursor_position = len(self._path.value)

    @on(Input.Changed)
    def _forget(self) -> None:
        self._warned_of = None
        self.query_one("#problem", Static).update("")

    @on(Input.Submitted)
    def _go(self) -> None:
        host(self).begin(self, "preview", self._check)

    async def _check(self) -> None:
        try:
            path, there = await host(self).pinfold.calls.run(_found, self._path.text.strip())
        except (ValueError, RuntimeError, OSError) as error:
            self._tell(str(error))
            return
        if self._writing and there and self._warned_of != path:
            self._warned_of = path
            self._tell("It is there already; once more replaces it.")
        elif not self._writing and not there:
            self._tell("There is no such file.")
        else:
            self.dismiss(FileAnswer(path, self._choice.value if self._choice is not None else "", there))

    def _tell(self, problem: str) -> None:
        self.query_one("#problem", Static).update(Content(safe(problem)))

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self._go()
        else:
            self.dismiss(None)


def _found(typed: str) -> tuple[Path, bool]:
    """What a path that was typed leads to, and whether anything is there."""
    path = Path(typed).expanduser()
    return path, path.exists()
