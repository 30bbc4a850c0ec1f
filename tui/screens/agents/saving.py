"""Before a draft is written: what it means for the agent, what it does to the file, whom it reaches and when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from services.agents import Draft
from services.policy import Change as Difference
from tui.diff import diff_lines
from tui.figures import counted
from tui.glyphs import glyphs
from tui.screens.agents.differences import difference_lines
from tui.screens.dialog import Dialog
from tui.states import state_word
from tui.store import SessionRow
from tui.widgets.lines_view import LinesView
from tui.widgets.table import Cell, Span, cell

_REACHED = "at its next start"
"""A running sandbox keeps its mounts, network and limits."""


@dataclass(frozen=True)
class Proposal:
    """What would be written.

    Attributes:
        alias: Of the agent, clean.
        count: How many changes it holds.
        differences: What it means, in words.
        diff: The file's, line by line.
        sessions: The agent's that run now.
    """

    alias: str
    count: int
    differences: tuple[Difference, ...]
    diff: tuple[Cell, ...]
    sessions: tuple[SessionRow, ...]

    @property
    def widens(self) -> bool:
        """Whether the agent may do more than before."""
        return any(difference.widens for difference in self.differences)


def file_diff(draft: Draft) -> tuple[Cell, ...]:
    """Compare the file as it is with the file as it would be; blocks."""
    before, after = (data.decode("utf-8", errors="replace") for data in (draft.base, draft.data))
    return tuple(diff_lines(before, after))


class SaveDraft(Dialog[bool]):
    """Answers whether to write; starts on *cancel* when the agent would be allowed more."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(8)", show=False),
        Binding("pageup", "scroll(-8)", show=False),
    ]

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(id="save")
        self._proposal = proposal

    def compose(self) -> ComposeResult:
        """Lay out the two diffs, the sessions and the buttons."""
        proposal = self._proposal
        with Vertical(id="box", classes="danger" if proposal.widens else ""):
            yield Static(Content(f"Save {counted(proposal.count, 'change')} of {proposal.alias}?"), id="heading")
            yield LinesView(list(proposal_lines(proposal)), id="proposal")
            if proposal.widens:
                yield Static(Content(f"{glyphs().warning} {proposal.alias} will be allowed more."), id="consequence")
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Allow and save" if proposal.widens else "Save", id="yes", compact=True)

    def on_mount(self) -> None:
        """Start on the harmless answer."""
        self.query_one("#cancel" if self._proposal.widens else "#yes").focus()

    def action_scroll(self, by: int) -> None:
        """Scroll what would be written."""
        self.query_one(LinesView).scroll_relative(y=by, animate=False)

    @on(Button.Pressed)
    def answer(self, message: Button.Pressed) -> None:
        """Close with the answer."""
        self.dismiss(message.button.id == "yes")


def proposal_lines(proposal: Proposal) -> Iterator[Cell]:
    """Everything about a proposal, line by line."""
    yield cell("WHAT IT MAY DO", "muted")
    yield from difference_lines(proposal.differences) or [cell("  nothing changes", "muted")]
    yield cell("")
    yield cell("AGENT.TOML", "muted")
    yield from proposal.diff
    yield cell("")
    yield from _sessions(proposal.sessions)


def _sessions(sessions: Sequence[SessionRow]) -> Iterator[Cell]:
    if not sessions:
        yield cell("No session of it runs now.", "muted")
        return
    yield cell("RUNNING NOW", "muted")
    for row in sessions:
        yield (
            Span(f"  {row.id}  ", "strong"),
            Span(f"{state_word(row)} on {row.engine or glyphs().dash}  "),
            Span(f"reached {_REACHED}", "warn"),
        )
