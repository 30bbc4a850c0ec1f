"""A file that somebody else changed under a draft: both versions of each key, and a choice for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from services.agents import MISSING, Disagreement, dotted
from tui.glyphs import glyphs
from tui.screens.agents.fields import Path
from tui.screens.dialog import Dialog
from tui.text import safe
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Column, Span, Table, cell

_LONGEST = 2000


@dataclass(frozen=True)
class Question:
    """One key to choose for, in clean text.

    Attributes:
        mine: What the draft says.
        theirs: What the disk says.
        conflicts: Both sides changed it, not to the same.
        changed_here: The draft changed it; else there is nothing to choose.
        keeps_mine: What is chosen now.
    """

    path: Path
    base: str
    mine: str
    theirs: str
    conflicts: bool
    changed_here: bool
    keeps_mine: bool

    @classmethod
    def of(cls, found: Disagreement) -> Question:
        """Ask about a disagreement; where only one side changed, that side is chosen."""
        base, mine, theirs = (_shown(value) for value in (found.base, found.mine, found.theirs))
        changed_here = mine != base
        return cls(found.path, base, mine, theirs, found.conflicts, changed_here, changed_here and not found.conflicts)


def _shown(value: object) -> str:
    if value is MISSING:
        return glyphs().dash
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return safe("  ".join(str(item)[:_LONGEST] for item in value)[:_LONGEST]) or "[]"
    return safe(str(value)[:_LONGEST]) or '""'


class CompareVersions(Dialog[frozenset[Path]]):
    """Answers with the paths of the changes to keep."""

    def __init__(self, alias: str, disagreements: Sequence[Disagreement]) -> None:
        super().__init__(id="compare")
        self._alias = alias
        ordered = sorted(disagreements, key=lambda found: not found.conflicts)
        self._questions = {dotted(found.path): Question.of(found) for found in ordered}
        self._table: Table[Question] = Table(_columns(), lambda question: dotted(question.path), id="questions")
        self._whole = LinesView(id="whole")

    def compose(self) -> ComposeResult:
        """Lay out the keys, the one under the cursor whole, and the buttons."""
        with Vertical(id="box"):
            yield Static(Content(f"{self._alias}: agent.toml changed on disk"), id="heading")
            yield self._table
            yield self._whole
            yield Static("", id="explained", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Go on with these", id="yes", compact=True)

    def on_mount(self) -> None:
        """Begin with the first key."""
        self._table.styles.height = min(len(self._questions), 8) + 1
        self._show()
        self._table.focus()

    def _show(self) -> None:
        self._table.show(self._questions.values())
        self._show_whole()
        open_ones = sum(question.conflicts for question in self._questions.values())
        said = f"{open_ones} changed on both sides." if open_ones else "No key was changed on both sides."
        self.query_one("#explained", Static).update(Content(f"{said} Enter on a row takes the other version."))

    @on(Table.Moved)
    def _show_whole(self) -> None:
        question = self._table.row
        if question is None:
            return
        kept = question.keeps_mine
        self._whole.show(
            [
                (Span("before   ", "muted"), Span(question.base, "muted")),
                (Span("yours    ", "muted"), Span(question.mine, "strong" if kept else "")),
                (Span("on disk  ", "muted"), Span(question.theirs, "" if kept else "strong")),
            ]
        )

    @on(Table.Opened)
    def _switch(self) -> None:
        question = self._table.row
        if question is not None and question.changed_here:
            self._questions[dotted(question.path)] = replace(question, keeps_mine=not question.keeps_mine)
            self._show()

    @on(Button.Pressed)
    def _press(self, message: Button.Pressed) -> None:
        if message.button.id == "yes":
            self.dismiss(frozenset(question.path for question in self._questions.values() if question.keeps_mine))
        else:
            self.dismiss(None)


def _columns() -> list[Column[Question]]:
    return [
        Column("key", "KEY", lambda question, _: _key(question), None, 32, grow=1, most=44),
        Column("base", "BEFORE", lambda question, _: cell(question.base, "muted"), None, 8, grow=1, drop=1),
        Column("mine", "YOURS", lambda question, _: _side(question, question.mine, mine=True), None, 10, grow=2),
        Column("theirs", "ON DISK", lambda question, _: _side(question, question.theirs, mine=False), None, 10, grow=2),
        Column("kept", "KEEP", lambda question, _: _kept(question), None, 9),
    ]


def _key(question: Question) -> Cell:
    sign = f"{glyphs().warning} " if question.conflicts else "  "
    return (Span(sign, "warn"), Span(safe(dotted(question.path)), "strong" if question.conflicts else ""))


def _side(question: Question, text: str, *, mine: bool) -> Cell:
    return cell(text, "accent" if question.keeps_mine is mine else "muted")


def _kept(question: Question) -> Cell:
    sign = glyphs().chosen
    return cell(f"{sign} yours" if question.keeps_mine else f"{sign} disk", "accent")
