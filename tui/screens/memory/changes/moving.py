"""Moving keys to another scope, shown first as what it would do."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from services.errors import PinfoldError
from services.memory import Move, Scope
from tui.figures import counted
from tui.host import host
from tui.memory_log import log
from tui.screens.looking_ahead import LooksAhead
from tui.screens.memory.changes.doing import Outcome, Subject, taking_back
from tui.screens.memory.hiding import key_name
from tui.screens.memory.places import ScopeKeys
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Span, cell
from tui.widgets.typing_line import TypingLine

_LISTED = 100


class MoveKeys(LooksAhead[tuple[Scope, bool]]):
    """Asks where keys are to go, tells what would happen while it is typed, and answers with scope and *replace*.

    Args:
        place: Where they are.
        keys: Which.
    """

    def __init__(self, place: ScopeKeys, keys: Sequence[str]) -> None:
        super().__init__(id="move")
        self._place = place
        self._keys = list(keys)
        self._line = TypingLine(f"{place.scope.kind}:", placeholder="user:42, team:…, chat:…, context:…")
        self._clash = Choice((("leave", "leave those that are there too"), ("replace", "replace them")), "leave")
        self._lines = LinesView(id="lines")

    def compose(self) -> ComposeResult:
        """Lay out scope, what would happen, and buttons."""
        with Vertical(id="box"):
            yield Static(
                Content(f"Move {counted(len(self._keys), 'key')} of {self._place.title} to another scope"), id="heading"
            )
            yield Field("To", self._line)
            yield Field("Clashes", self._clash)
            yield self._lines
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Move", id="yes", compact=True, disabled=True)

    def on_mount(self) -> None:
        """Begin with the scope."""
        self._line.focus()
        self._line.cursor_position = len(self._line.value)
        self._look()

    @on(Input.Changed)
    @on(Choice.Changed)
    def _look(self) -> None:
        self.begin_to_look()
        host(self).begin(self, "preview", self._dry_run)

    async def _dry_run(self) -> None:
        try:
            move = await host(self).pinfold.memory.scopes.move(
                self._place.scope, self._target(), self._keys, replace=self._replace, dry_run=True
            )
        except (ValueError, PinfoldError) as error:
            self._lines.show([cell(safe(str(error)), "bad")])
            self.looked(allowed=False)
            return
        self._lines.show(_move_lines(move, replace=self._replace))
        self.query_one("#yes", Button).label = f"Move {counted(len(move.moved), 'key')}"
        self.looked(allowed=bool(move.moved))

    def _target(self) -> Scope:
        return Scope.parse(self._line.text)

    @property
    def _replace(self) -> bool:
        return self._clash.value == "replace"

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss((self._target(), self._replace) if message.button.id == "yes" else None)


def _move_lines(move: Move, *, replace: bool) -> list[Cell]:
    lines: list[Cell] = [cell(f"{counted(len(move.moved), 'key')} would go, each with the time it has left", "strong")]
    if move.clashing:
        verb = "replaced there" if replace else "left here, since the other scope has them"
        lines.append((Span(f"{counted(len(move.clashing), 'key')} {verb}", "warn"),))
        lines += [cell(f"  {key_name(key, reveal=False)}", "warn") for key in move.clashing[:_LISTED]]
    if move.gone:
        lines.append(cell(f"{counted(len(move.gone), 'key')} gone already", "muted"))
    lines += [cell(f"  {key_name(key, reveal=False)}", "muted") for key in move.moved[:_LISTED]]
    return lines


async def move(subject: Subject, keys: Sequence[str], target: Scope, replace: bool) -> Outcome:
    """Move keys to another scope."""
    assert isinstance(subject.place, ScopeKeys)
    source = subject.place.scope
    done = await subject.pinfold.memory.scopes.move(source, target, list(keys), replace=replace)
    said = f"{counted(len(done.moved), 'key')} moved to {target}"
    await log(subject.pinfold, "move", f"{source} {said}")
    return Outcome(said, undo=taking_back(said, *done.changes) if done.changes else None)
