"""Changes of a session's record that leave its state as it is: its sandbox taken away, signs of life, remarks.

Like those in `transitions`, each is a decision for `SessionStore.change`.
"""

from __future__ import annotations

from msgspec.structs import replace

from services.sandbox.model import Session, SessionState, Step
from services.sandbox.rows import StepChange
from services.sandbox.store import Decide, Update
from services.sandbox.transitions import entry_for, one_line

_NOT_REMOVED = "its sandbox could not be removed"


def cleaned(sandbox: str, reason: str) -> Decide:
    """The sandbox of an ended session was removed; its row and output stay."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if not session.state.ended or session.sandbox != sandbox or not sandbox:
            return None
        return Update(
            replace(session, sandbox="", detail=_without_complaint(session.detail)),
            (StepChange("cleanup", "done", reason),),
            entry=entry_for("session.cleanup", session, actor="pinfold", detail=reason),
        )

    return decide


def not_cleaned(reason: str) -> Decide:
    """Removing the sandbox failed and will be tried again; the session stays listed and says so."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        complaint = f"{_NOT_REMOVED}: {reason}"
        own = _without_complaint(session.detail)
        detail = one_line(f"{own}; {complaint}" if own else complaint)
        if not session.state.ended or session.detail == detail:
            return None
        return Update(
            replace(session, detail=detail),
            (StepChange("cleanup", "failed", one_line(reason)),),
            entry=entry_for("session.cleanup", session, actor="pinfold", outcome="failed", detail=complaint),
        )

    return decide


def left_over(sandbox: str) -> Decide:
    """A sandbox turned up for a session that ended without one, as after a call whose answer was lost."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if not session.state.ended or session.sandbox:
            return None
        return Update(replace(session, sandbox=sandbox))

    return decide


def active(now: int) -> Decide:
    """The sandbox gave a sign of being busy."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not SessionState.RUNNING or now <= (session.active_at or 0):
            return None
        return Update(replace(session, active_at=now))

    return decide


def noted(detail: str) -> Decide:
    """Something is to be said of a running session, or added to what is said of an ended one."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        line = one_line(detail)
        if session.state.ended and session.detail and line not in session.detail:
            line = f"{session.detail}; {line}"
        if session.detail == line or (session.state is not SessionState.RUNNING and session.state.live):
            return None
        return Update(replace(session, detail=line))

    return decide


def _without_complaint(detail: str) -> str:
    return detail.partition(_NOT_REMOVED)[0].removesuffix("; ")
