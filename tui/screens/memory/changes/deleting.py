"""Deleting rows, one or many or all, shown first as what would go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from services.errors import PinfoldError
from tui.figures import counted
from tui.host import host
from tui.screens.dialog import Confirm, Dialog
from tui.screens.memory.changes.doing import Outcome, Subject, change_keys
from tui.screens.memory.hiding import key_name
from tui.screens.memory.operations import agents, blocks
from tui.screens.memory.places import AgentRows, ArchiveOf, Place, ScopeKeys
from tui.text import safe
from tui.widgets.field import Field
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, cell
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.pinfold import Pinfold

_LISTED = 100
MOST = 10_000
"""The most rows that are marked at once."""


def can_delete(place: Place | None) -> bool:
    """Whether rows of a place can be deleted."""
    return isinstance(place, ScopeKeys | AgentRows | ArchiveOf)


def delete_question(place: Place, ids: Sequence[str], names: Sequence[str]) -> Confirm:
    """What deleting rows would do.

    Args:
        place: Where they are.
        ids: Name the rows.
        names: What they are called, clean; for ids that are not known as anything else none.
    """
    lines = list(names[:_LISTED]) or [key_name(each, reveal=False) for each in ids[:_LISTED]]
    if len(ids) > _LISTED:
        lines.append(f"and {len(ids) - _LISTED:,} more")
    what = counted(len(ids), "key" if isinstance(place, ScopeKeys) else "row")
    return Confirm(f"Delete {what} of {place.title}?", lines, _comes_back(place), f"Delete {what}")


def _comes_back(place: Place) -> str:
    if isinstance(place, ArchiveOf):
        return "It can be taken back until Pinfold ends; the entries are new ones then."
    return "It can be taken back until Pinfold ends."


async def delete(subject: Subject, ids: Sequence[str]) -> Outcome:
    """Delete rows of the place that is shown."""
    place, pinfold = subject.place, subject.pinfold
    if isinstance(place, ScopeKeys):
        count, undo = await change_keys(pinfold, place.scope, list(ids), "del", lambda keys: keys.delete_many(ids))
    elif isinstance(place, AgentRows):
        count, undo = await agents.forget(pinfold, place.alias, ids)
    else:
        count, undo = await blocks.delete_entries(subject, ids)
    return Outcome(f"{counted(count, 'row')} deleted", undo=undo)


async def clear_question(pinfold: Pinfold, place: ScopeKeys) -> Confirm:
    """What emptying a scope would do."""
    count = await pinfold.memory.namespace(place.scope).count()
    return Confirm(
        f"Delete every key of {place.title}?",
        [counted(count, "key")],
        "It can be taken back until Pinfold ends, unless it is more than 16M.",
        f"Delete {counted(count, 'key')}",
    )


async def clear(subject: Subject) -> Outcome:
    """Empty the scope that is shown."""
    assert isinstance(subject.place, ScopeKeys)
    count, undo = await change_keys(subject.pinfold, subject.place.scope, "", "clear", lambda keys: keys.clear())
    return Outcome(f"{counted(count, 'key')} deleted", undo=undo)


class DeleteMatching(Dialog[str]):
    """Asks for a pattern, shows which keys it matches while it is typed, and answers with it.

    Args:
        place: Whose keys.
        pattern: To begin with.
    """

    def __init__(self, place: ScopeKeys, pattern: str) -> None:
        super().__init__(id="matching")
        self._place = place
        self._line = TypingLine(pattern, placeholder="* is any text, everything else stands for itself")
        self._lines = LinesView(id="lines")
        self._count = 0

    def compose(self) -> ComposeResult:
        """Lay out pattern, keys and buttons."""
        with Vertical(id="box", classes="danger"):
            yield Static(Content(f"Delete keys of {self._place.title} that match"), id="heading")
            yield Field("Pattern", self._line)
            yield self._lines
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Delete", id="yes", compact=True, disabled=True)

    def on_mount(self) -> None:
        """Begin with the pattern."""
        self._line.focus()
        self._look()

    @on(Input.Changed)
    def _look(self) -> None:
        host(self).begin(self, "preview", self._dry_run)

    async def _dry_run(self) -> None:
        button = self.query_one("#yes", Button)
        button.disabled = True
        try:
            pattern = self._line.text
            namespace = host(self).pinfold.memory.namespace(self._place.scope)
            self._count = await namespace.count(pattern) if pattern else 0
            keys = await namespace.keys(pattern, limit=_LISTED) if pattern else []
        except (ValueError, PinfoldError) as error:
            self._lines.show([cell(safe(str(error)), "bad")])
            return
        lines: list[Cell] = [cell(f"{counted(self._count, 'key')} would go", "strong" if self._count else "muted")]
        lines += [cell(f"  {key_name(key, reveal=False)}", "muted") for key in keys]
        if self._count > len(keys):
            lines.append(cell(f"  and {self._count - len(keys):,} more", "muted"))
        self._lines.show(lines)
        button.label = f"Delete {counted(self._count, 'key')}"
        button.disabled = self._count == 0

    @on(Input.Submitted)
    def _to_button(self) -> None:
        self.query_one("#yes" if self._count else "#cancel").focus()

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss(self._line.text if message.button.id == "yes" else None)


async def delete_matching(subject: Subject, pattern: str) -> Outcome:
    """Delete the keys a pattern matches."""
    assert isinstance(subject.place, ScopeKeys)
    count, undo = await change_keys(
        subject.pinfold, subject.place.scope, pattern, "del-matching", lambda keys: keys.delete_matching(pattern)
    )
    return Outcome(f"{counted(count, 'key')} deleted", undo=undo)
