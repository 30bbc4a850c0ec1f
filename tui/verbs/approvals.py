"""`pinfold approvals`: calls of tools that wait for an operator's word."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
import msgspec

from tui.figures import duration
from tui.verbs.call import Call, verb
from tui.verbs.documents import rfc3339
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.sandbox import Approval

_SECOND = 1_000_000_000
_COLUMNS = (
    Column("NUMBER", right=True),
    Column("AGENT", cut="middle"),
    Column("SESSION", spare=3),
    Column("TOOL"),
    Column("TIME LEFT", right=True, spare=2),
    Column("ARGUMENTS", cut="end", spare=1),
)


class ApprovalDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A call that waits."""

    number: int
    session: str
    agent: str
    tool: str
    summary: str
    reason: str
    rule: str
    every_time: bool
    asked_at: str | None
    until: str | None

    @classmethod
    def of(cls, approval: Approval) -> ApprovalDocument:
        """Write one down."""
        return cls(
            number=approval.number,
            session=approval.session,
            agent=approval.agent,
            tool=approval.tool,
            summary=approval.summary,
            reason=approval.reason,
            rule=approval.rule,
            every_time=approval.every_time,
            asked_at=rfc3339(approval.asked_at),
            until=rfc3339(approval.until),
        )


@click.group("approvals")
def command() -> None:
    """List calls of tools that wait for an operator's word, and answer them.

    A call that nobody answers within its agent's approval_timeout is refused.
    """


@command.command("list")
@verb
async def list_approvals(call: Call) -> None:
    """List the calls that wait, the oldest first; secrets in their arguments are masked."""
    async with call.pinfold() as pinfold:
        waiting = await pinfold.approvals.waiting()
    if call.json:
        call.printer.document([ApprovalDocument.of(approval) for approval in waiting])
    elif waiting or not call.printer.terminal:
        call.printer.table(_COLUMNS, [_row(approval, time.time_ns()) for approval in waiting])
    else:
        call.printer.line("Nothing waits.", "muted")


@command.command("allow")
@verb
@click.argument("number", type=int)
@click.option("--session", "whole_session", is_flag=True, help="Also do not ask for this tool again in this session.")
async def allow(call: Call, number: int, whole_session: bool) -> None:
    """Allow a call, once or, except for what is always asked, for its whole session."""
    await _answer(call, number, allow=True, whole_session=whole_session)


@command.command("refuse")
@verb
@click.argument("number", type=int)
@click.option("--reason", "words", default="", metavar="TEXT", help="Why, which the agent is told.")
async def refuse(call: Call, number: int, words: str) -> None:
    """Refuse a call; the agent is told and goes on."""
    await _answer(call, number, allow=False, words=words)


async def _answer(call: Call, number: int, *, allow: bool, whole_session: bool = False, words: str = "") -> None:
    async with call.pinfold() as pinfold:
        approval = await pinfold.approvals.answer(number, allow=allow, whole_session=whole_session, words=words)
    if call.json:
        call.printer.document(ApprovalDocument.of(approval))
    else:
        done = "allowed" if allow else "refused"
        call.printer.line(f"{done} {approval.tool} for {approval.agent}", "good" if allow else "warn")


def _row(approval: Approval, now: int) -> tuple[Cell, ...]:
    return (
        Cell(str(approval.number), "accent"),
        Cell(approval.agent),
        Cell(approval.session, "muted"),
        Cell(approval.tool),
        Cell(duration(max(0, approval.until - now) / _SECOND)),
        Cell(approval.summary, "muted"),
    )
