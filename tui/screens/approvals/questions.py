"""The questions of the dialog: what waits, and what became of the one the operator looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.content import Content

from tui.approval_row import ApprovalRow
from tui.figures import SECOND, ago, moment
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.widgets.table import Cell, Column, Table, cell

_SOON = 30 * SECOND
_LABEL = 11

GONE = "waits no more"
"""What became of a question that was answered elsewhere, withdrawn or timed out."""


@dataclass(frozen=True)
class Question:
    """One call in the dialog.

    Attributes:
        fate: What became of it, a few words; "" while it waits.
    """

    row: ApprovalRow
    fate: str = ""

    @property
    def key(self) -> str:
        """Its name in the table."""
        return str(self.row.number)


class QuestionTable(Table[Question]):
    """The questions in the order they were asked, so that none changes its place."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to move, and nothing else: every answer is given to one question that was read."""
        return action in ("down", "up", "page_down", "page_up", "top", "bottom")


def question_columns(now: Callable[[], int]) -> list[Column[Question]]:
    """The columns from left to right.

    Args:
        now: Nanoseconds since 1970.
    """
    return [
        Column("agent", "AGENT", lambda asked, _: cell(asked.row.agent, _tone(asked, "strong")), None, 10, most=20),
        Column("session", "SESSION", lambda asked, _: cell(asked.row.session, "muted"), None, 17, drop=1),
        Column("tool", "TOOL", lambda asked, _: cell(asked.row.tool, _tone(asked, "")), None, 13, grow=1, most=24),
        Column("arguments", "ARGUMENTS", lambda asked, _: cell(asked.row.arguments, "muted"), None, 12, grow=4, drop=2),
        Column("since", "SINCE", lambda asked, _: cell(ago(asked.row.asked_at, now()), "muted"), None, 5, right=True),
        Column("left", "LEFT", lambda asked, _: _left(asked, now()), None, 13, right=True),
    ]


def _tone(asked: Question, waiting: Tone) -> Tone:
    return "muted" if asked.fate else waiting


def _left(asked: Question, now: int) -> Cell:
    if asked.fate:
        return cell(asked.fate, "muted")
    return cell(asked.row.left(now), "warn" if asked.row.until - now < _SOON else "")


def describe(asked: Question, now: int) -> Content:
    """Write what is known of a call beside its arguments, one fact a line.

    Args:
        asked: The call.
        now: Nanoseconds since 1970.
    """
    row = asked.row
    dash = glyphs().dash
    left = asked.fate or f"{row.left(now)} left, then it is refused"
    facts = [
        ("agent", Content.assemble((row.agent, "bold"), f"  {row.session}")),
        ("asks for", Content.assemble((row.tool, "bold"))),
        ("since", Content(f"{ago(row.asked_at, now)}  {moment(row.asked_at)}")),
        ("time", Content.assemble((left, "$muted" if asked.fate else "$warn"))),
        ("because", Content(row.reason or dash)),
        ("rule", Content(row.rule or dash)),
    ]
    return Content("\n").join(Content.assemble((label.ljust(_LABEL), "$muted"), value) for label, value in facts)


def heading(waiting: int) -> str:
    """Say how many calls wait."""
    if not waiting:
        return "Nothing waits for an answer"
    return "1 call waits for your answer" if waiting == 1 else f"{waiting:,} calls wait for your answer"
