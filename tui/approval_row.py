"""A call that waits for the operator's word, as the screens show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import SECOND, duration
from tui.text import safe

if TYPE_CHECKING:
    from services.sandbox import Approval

_LONGEST = 1000


@dataclass(frozen=True)
class ApprovalRow:
    """One call that waits, in clean text.

    Attributes:
        number: By which it is answered.
        arguments: Shortened, secrets masked.
        reason: Why it is asked.
        rule: Which rule asks, and where it is written; "" when that is not known.
        every_time: It cannot be allowed for the whole session.
        asked_at, until: Nanoseconds since 1970; unanswered by `until`, it is refused.
    """

    number: int
    session: str
    agent: str
    tool: str
    arguments: str
    reason: str
    rule: str
    every_time: bool
    asked_at: int
    until: int

    @classmethod
    def of(cls, approval: Approval) -> ApprovalRow:
        """Take over what is shown of an approval."""
        return cls(
            number=approval.number,
            session=safe(approval.session),
            agent=safe(approval.agent),
            tool=safe(approval.tool[:_LONGEST]),
            arguments=safe(approval.summary[:_LONGEST]),
            reason=safe(approval.reason[:_LONGEST]),
            rule=safe(approval.rule[:_LONGEST]),
            every_time=approval.every_time,
            asked_at=approval.asked_at,
            until=approval.until,
        )

    def left(self, now: int) -> str:
        """Write how long it still waits.

        Args:
            now: Nanoseconds since 1970.
        """
        return duration(max(self.until - now, 0) / SECOND)
