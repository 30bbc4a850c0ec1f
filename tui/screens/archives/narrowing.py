"""Which archives and operations are shown: by kind, agent, state and age."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Select, Static

from tui.screens.archives.entries import Narrowed
from tui.screens.dialog import Dialog
from tui.widgets.choice import Choice
from tui.widgets.field import Field

_ANY = ("", "any")


class Narrow(Dialog[Narrowed]):
    """Answers with what is to be shown.

    Args:
        now: What is shown.
        aliases: Agents to choose from, clean.
        states: States to choose from.
    """

    def __init__(self, now: Narrowed, aliases: Sequence[str], states: Sequence[str]) -> None:
        super().__init__(id="narrow")
        self._kind = Choice((_ANY, *((kind, kind) for kind in ("delete", "rename", "restore"))), now.kind, id="kind")
        self._state = Choice((_ANY, *((state, state) for state in states)), now.state, id="state")
        ages = (("hour", "an hour"), ("day", "a day"), ("week", "a week"), ("month", "a month"))
        self._older = Choice((_ANY, *ages), now.older, id="older")
        chosen = now.alias if now.alias in aliases else Select.NULL
        options = [(Content(alias), alias) for alias in aliases]
        self._alias: Select[str] = Select(options, value=chosen, prompt="any", id="alias", compact=True)

    def compose(self) -> ComposeResult:
        """Lay out the choices."""
        with Vertical(id="box"):
            yield Static("Show only", id="heading", markup=False)
            yield Field("Kind", self._kind)
            yield Field("Agent", self._alias)
            yield Field("State", self._state)
            yield Field("Older than", self._older)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Everything", id="all", compact=True)
                yield Button("Show", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the kind."""
        self._kind.focus()

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        if message.button.id == "cancel":
            self.dismiss(None)
        elif message.button.id == "all":
            self.dismiss(Narrowed())
        else:
            alias = self._alias.value if isinstance(self._alias.value, str) else ""
            self.dismiss(Narrowed(self._kind.value, alias, self._state.value, self._older.value))
