"""The drawer of the activity log: who did what, when, and how it went."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tui.actions import Scope
from tui.figures import ago, clock
from tui.glyphs import glyphs
from tui.keymap import bindings
from tui.looks import Tone
from tui.text import safe
from tui.widgets.list_pane import ListPane
from tui.widgets.table import Cell, Column, Span, Table, cell

if TYPE_CHECKING:
    from services.activity import Entry

_OUTCOMES: dict[str, tuple[str, Tone]] = {
    "done": ("done", "muted"),
    "refused": ("warning", "warn"),
    "failed": ("failed", "bad"),
}


@dataclass(frozen=True)
class ActivityRow:
    """One entry, in clean text.

    Attributes:
        at: Nanoseconds since 1970.
    """

    number: int
    at: int
    actor: str
    verb: str
    agent: str
    session: str
    outcome: Literal["done", "refused", "failed"]
    detail: str


class ActivityDrawer(Vertical):
    """Shows entries, newest first, of everything or of one session or agent.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.ACTIVITY)

    class NarrowAsked(Message):
        """The operator wants only what concerns the chosen session or agent, or all again."""

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(id="activity")
        self._pane: ListPane[ActivityRow] = ListPane(
            "Activity",
            Table(
                _columns(now),
                lambda row: str(row.number),
                text=lambda row: f"{row.actor} {row.verb} {row.agent} {row.session} {row.outcome} {row.detail}",
            ),
        )

    def compose(self) -> ComposeResult:
        """Lay the list out."""
        yield self._pane

    def on_mount(self) -> None:
        """Say what will be here."""
        self._pane.say_empty("Nothing has been done here yet", ("Every start, stop and change is written down here.",))

    def show(self, entries: Iterable[Entry], of: str) -> None:
        """Show entries.

        Args:
            entries: Newest first.
            of: What they are narrowed to, "" for everything.
        """
        self._pane.rename(f"Activity of {of}" if of else "Activity")
        self._pane.show([_row(entry) for entry in entries])

    @property
    def table(self) -> Table[ActivityRow]:
        """The entries."""
        return self._pane.table

    def drop_filter(self) -> bool:
        """Show all entries again; False when all are shown already."""
        return self._pane.drop_filter()

    def action_narrow(self) -> None:
        """Ask for fewer entries, or all again."""
        self.post_message(self.NarrowAsked())

    @on(Table.Moved)
    @on(Table.VisibleChanged)
    @on(Table.Opened)
    def _keep(self, message: Table.Moved) -> None:
        message.stop()  # the screen's own table is another one


def _row(entry: Entry) -> ActivityRow:
    """Take over what is shown of an entry of the activity log."""
    return ActivityRow(
        number=entry.number,
        at=entry.at,
        actor=safe(entry.actor),
        verb=safe(entry.verb),
        agent=safe(entry.agent),
        session=safe(entry.session),
        outcome=entry.outcome,
        detail=safe(entry.detail),
    )


def _columns(now: Callable[[], int]) -> list[Column[ActivityRow]]:
    return [
        Column("at", "TIME", lambda row, width: _time(row, width, now()), None, 8, grow=1, most=14),
        Column("actor", "WHO", lambda row, _: cell(row.actor, "muted"), None, 9, grow=1, most=18, drop=2),
        Column("verb", "WHAT", lambda row, _: cell(row.verb, "strong"), None, 18),
        Column("agent", "AGENT", lambda row, _: cell(row.agent), None, 10, grow=1, most=20),
        Column("session", "SESSION", lambda row, _: cell(row.session, "muted"), None, 10, grow=1, most=16, drop=1),
        Column("outcome", "", _outcome, None, 10),
        Column("detail", "DETAIL", lambda row, _: cell(row.detail, "muted"), None, 10, grow=5),
    ]


def _time(row: ActivityRow, width: int, now: int) -> Cell:
    if width < 14:
        return cell(clock(row.at))
    return (Span(clock(row.at)), Span(f" {ago(row.at, now):>5}", "muted"))


def _outcome(row: ActivityRow, _: int) -> Cell:
    sign, tone = _OUTCOMES[row.outcome]
    return (Span(f"{getattr(glyphs(), sign)} {row.outcome}", tone),)
