"""Choosing one of a few values, with what each would change said before it is taken."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from services.errors import PinfoldError
from tui.figures import counted
from tui.glyphs import glyphs
from tui.host import host
from tui.screens.agents.differences import difference_lines
from tui.screens.agents.fields import PROFILE, Field
from tui.screens.agents.form_rows import own_value
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Column, Span, Table, cell

if TYPE_CHECKING:
    from services.agents import Agent, PinfoldConfig, RiskProfile, Value
    from services.policy import Change as Difference

_SETTLING_SECONDS = 0.06

Preview = Callable[["Value | None"], Awaitable[Sequence["Difference"]]]


@dataclass(frozen=True)
class Candidate:
    """A value that may be chosen.

    Attributes:
        word: The value, clean.
        value: As it would be written; None takes the agent's own word away.
        meaning: What it stands for, clean.
        now: It is in force.
    """

    word: str
    value: Value | None
    meaning: str
    now: bool


def candidates(field: Field, agent: Agent, shared: PinfoldConfig) -> tuple[Candidate, ...]:
    """List what may be chosen for a field of an agent that has a configuration."""
    assert agent.config is not None
    own = own_value(agent.config, field.path)
    if field.path == PROFILE:
        return tuple(
            Candidate(safe(name), name, _described(profile), name == own)
            for name, profile in sorted(shared.risk_profiles.items())
        )
    inherited = Candidate("inherit", None, _inherited(field, agent), own is None)
    if field.path == ("workspace", "unrestricted_filesystem"):
        return tuple(Candidate(o.word, o.value or None, o.meaning, (own or False) == o.value) for o in field.options)
    return (inherited, *(Candidate(o.word, o.value, o.meaning, o.value == own) for o in field.options))


def _described(profile: RiskProfile) -> str:
    commands = "any command" if "*" in profile.allowed_commands else counted(len(profile.allowed_commands), "command")
    parts = [profile.level, commands]
    if not profile.workspace_only:
        parts.append("open outside")
    if profile.forbidden_paths:
        parts.append(f"{len(profile.forbidden_paths)} forbidden")
    return ", ".join(parts)


def _inherited(field: Field, agent: Agent) -> str:
    if field.path[0] == "permissions" and agent.profile is not None:
        return f"the profile says {getattr(agent.profile, field.path[1])}"
    return "what pinfold.toml says, else none"


class ChooseValue(Dialog[Candidate]):
    """Answers with the candidate chosen.

    Args:
        heading: What is chosen, clean.
        choices: At least one.
        preview: Tells what a value would change; may raise PinfoldError.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", show=False),
        Binding("left", "app.focus_previous", show=False),
    ]

    def __init__(self, heading: str, choices: Sequence[Candidate], preview: Preview) -> None:
        super().__init__(id="choose")
        self._heading = heading
        self._preview = preview
        self._choices = tuple(choices)
        self._table: Table[Candidate] = Table(_columns(), lambda choice: choice.word, id="choices")
        self._said = LinesView(id="preview")

    def compose(self) -> ComposeResult:
        """Lay out candidates, what the one under the cursor changes, and the buttons."""
        with Vertical(id="box"):
            yield Static(Content(self._heading), id="heading")
            yield self._table
            yield Static("What would change", classes="caption", markup=False)
            yield self._said
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Choose", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin on the value in force."""
        self._table.styles.height = min(len(self._choices), 8) + 1
        self._table.show(self._choices)
        now = next((choice for choice in self._choices if choice.now), self._choices[0])
        self._table.move_to(now.word)
        self._table.focus()
        self._look_ahead()

    @on(Table.Moved)
    def _look_ahead(self) -> None:
        if (choice := self._table.row) is not None:
            host(self).begin(self, "preview", self._tell, choice)

    async def _tell(self, choice: Candidate) -> None:
        await asyncio.sleep(_SETTLING_SECONDS)
        try:
            differences = await self._preview(choice.value)
        except PinfoldError as error:
            self._said.show([cell(f"{glyphs().warning} {safe(str(error))}", "bad")])
            return
        self._said.show(difference_lines(differences) or [cell("Nothing: it may do the same as before.", "muted")])

    def action_take(self) -> None:
        """Answer with the candidate under the cursor."""
        self.dismiss(self._table.row)

    @on(Table.Opened)
    def _open(self) -> None:
        self.action_take()

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self.action_take()
        else:
            self.dismiss(None)


def _columns() -> list[Column[Candidate]]:
    def sign(choice: Candidate) -> Iterator[Span]:
        yield Span(f"{glyphs().chosen if choice.now else glyphs().unchosen} ", "accent" if choice.now else "muted")
        yield Span(choice.word, "strong")

    return [
        Column("word", "VALUE", lambda choice, _: tuple(sign(choice)), None, 18, grow=1, most=30),
        Column("meaning", "WHAT IT MEANS", lambda choice, _: cell(choice.meaning, "muted"), None, 20, grow=4),
    ]
