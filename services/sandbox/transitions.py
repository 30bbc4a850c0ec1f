"""The states of a session and every way from one to another. Nothing else writes a session's state.

| from | what happens | to |
| --- | --- | --- |
| - | recorded | preparing |
| preparing | its image is not here | pulling |
| preparing, pulling | its image is here | creating |
| creating | the engine made the sandbox | starting |
| starting | prepare steps are done, the main process goes | running |
| preparing, pulling, creating, starting | something fails, or its Pinfold dies | failed |
| preparing, pulling, creating, starting | the operator cancels it here | stopped |
| preparing, pulling, creating, starting | the operator stops it from another Pinfold | stopping |
| running | stop, kill, idle too long | stopping |
| running | ends by itself | exited, failed, killed, out of memory |
| stopping | ends | stopped, out of memory |
| stopping | will not end, or the engine is away | running |
| stopping, never ran | whoever starts it sees it, or is dead | stopped |
| running, stopping | the engine does not know the sandbox | lost |

Each function here returns a decision for `SessionStore.change`, which runs it inside one transaction: a change that
does not fit the state found there is not made, so of two Pinfolds exactly one makes it and logs it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from services.activity import Draft, Outcome
from services.sandbox.endings import ending
from services.sandbox.engines.engine import SandboxState
from services.sandbox.model import Session, SessionState, Step, StepState
from services.sandbox.rows import StepChange
from services.sandbox.store import Decide, Update

S = SessionState
BEING_STARTED = frozenset({S.PREPARING, S.PULLING, S.CREATING, S.STARTING})
IN_SANDBOX = frozenset({S.RUNNING, S.STOPPING})

_DETAIL_LIMIT = 2000


def one_line(text: str) -> str:
    """Make any text fit for a detail: one line, at most 2,000 characters, encodable."""
    line = " ".join(text.split())
    if len(line) > _DETAIL_LIMIT:
        line = f"{line[: _DETAIL_LIMIT - 1]}…"
    return line.encode("utf-8", "replace").decode("utf-8")


def entry_for(
    verb: str, session: Session, *, actor: str = "operator", outcome: Outcome = "done", detail: str = ""
) -> Draft:
    """Draft the activity entry that goes with a change of a session."""
    return Draft(verb, actor, session.agent, session.id, outcome, one_line(detail))


def never_ran(session: Session) -> bool:
    """Whether the main process was never let go."""
    return session.started_at is None


# --- starting


def pulling() -> Decide:
    """The image is being fetched."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.PREPARING:
            return None
        return Update(
            replace(session, state=S.PULLING, detail=""), (StepChange("prepare", "done"), StepChange("pull", "running"))
        )

    return decide


def creating(engine_id: str) -> Decide:
    """The image is here; the engine makes the sandbox."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state not in (S.PREPARING, S.PULLING):
            return None
        before = "prepare" if session.state is S.PREPARING else "pull"
        return Update(
            replace(session, state=S.CREATING, detail="", engine_id=engine_id),
            (StepChange(before, "done"), StepChange("create", "running")),
        )

    return decide


def starting(sandbox: str) -> Decide:
    """The sandbox exists; its main process is started."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.CREATING:
            return None
        return Update(
            replace(session, state=S.STARTING, detail="", sandbox=sandbox),
            (StepChange("create", "done"), StepChange("start", "running")),
        )

    return decide


def progress(step: StepChange, detail: str) -> Decide:
    """A start goes on: a step changes, and `detail` says what is awaited."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state not in BEING_STARTED:
            return None
        return Update(replace(session, detail=one_line(detail)), (_tidy(step),))

    return decide


def running(now: int, note: str) -> Decide:
    """The main process goes; `note` stays as the state's detail."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.STARTING:
            return None
        return Update(
            replace(session, state=S.RUNNING, detail=one_line(note), started_at=now, active_at=now),
            (StepChange("start", "done"), StepChange("run", "running")),
            entry=entry_for("session.start", session, detail=f"{session.runner} on {session.engine}"),
        )

    return decide


def not_started(now: int, reason: str, *, cancelled: bool, actor: str = "operator") -> Decide:
    """The start was given up; also ends a session that another Pinfold asked to stop while it was started."""

    def decide(session: Session, steps: tuple[Step, ...]) -> Update | None:
        stopped_meanwhile = session.state is S.STOPPING and never_ran(session)
        if session.state not in BEING_STARTED and not stopped_meanwhile:
            return None
        given_up = cancelled or stopped_meanwhile
        detail = one_line(reason)
        return Update(
            replace(session, state=S.STOPPED if given_up else S.FAILED, detail=detail, ended_at=now),
            _close_running(steps, "cancelled" if given_up else "failed", detail),
            entry=entry_for(
                "session.cancel" if given_up else "session.start",
                session,
                actor=actor,
                outcome="done" if given_up else "failed",
                detail=detail,
            ),
        )

    return decide


# --- stopping


def stopping(now: int, verb: str, actor: str, reason: str) -> Decide:
    """Someone asked for the end; exactly one asker begins it. An operator's asking is a sign of life."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.RUNNING and session.state not in BEING_STARTED:
            return None
        detail = one_line(reason)
        active_at = now if actor == "operator" else session.active_at
        return Update(
            replace(session, state=S.STOPPING, detail=detail, active_at=active_at),
            entry=entry_for(verb, session, actor=actor, detail=detail),
        )

    return decide


def rung(name: str, state: StepState, detail: str, *, verb: str = "", step_detail: str = "") -> Decide:
    """A rung of the stop ladder begins, is waited for, or ends; `verb` logs it."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.STOPPING:
            return None
        return Update(
            replace(session, detail=one_line(detail)),
            (_tidy(StepChange(name, state, step_detail)),),
            entry=entry_for(verb, session, actor="pinfold") if verb else None,
        )

    return decide


def interrupting() -> Decide:
    """The operator interrupts the main process, which may well go on."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state is not S.RUNNING:
            return None
        return Update(session, (StepChange("interrupt", "running"),), entry=entry_for("session.interrupt", session))

    return decide


def interrupted(problem: str = "") -> Decide:
    """The interrupt was sent, or could not be."""

    def decide(session: Session, steps: tuple[Step, ...]) -> Update | None:
        if not any(step.name == "interrupt" and step.state == "running" for step in steps):
            return None
        return Update(session, (StepChange("interrupt", "failed" if problem else "done", one_line(problem)),))

    return decide


def not_stopped(reason: str) -> Decide:
    """The sandbox would not end or the engine was away; it goes on running as far as is known."""

    def decide(session: Session, steps: tuple[Step, ...]) -> Update | None:
        if session.state is not S.STOPPING or never_ran(session):
            return None
        detail = one_line(f"could not be stopped: {reason}")
        rungs = [step for step in steps if step.name != "run"]
        return Update(
            replace(session, state=S.RUNNING, detail=detail),
            _close_running(rungs, "failed", one_line(reason)),
            entry=entry_for("session.stop", session, actor="pinfold", outcome="failed", detail=detail),
        )

    return decide


# --- the end


def ended(sandbox: SandboxState, now: int) -> Decide:
    """The main process ended and all its output is in the spool."""

    def decide(session: Session, steps: tuple[Step, ...]) -> Update | None:
        if session.state not in IN_SANDBOX:
            return None
        found = ending(session, steps, sandbox)
        detail = one_line(found.detail)
        well = found.state in (S.EXITED, S.STOPPED)
        return Update(
            replace(
                session,
                state=found.state,
                detail=detail,
                ended_at=sandbox.ended_at or now,
                active_at=now if session.state is S.RUNNING else session.active_at,
                exit_code=sandbox.exit_code,
                out_of_memory=sandbox.out_of_memory,
            ),
            (StepChange("run", "done" if well else "failed", detail),),
            close="done",
            entry=entry_for(
                "session.end",
                session,
                actor="pinfold",
                outcome="done" if well else "failed",
                detail=f"{found.state.value}: {detail}" if detail else found.state.value,
            ),
        )

    return decide


def lost(now: int, reason: str) -> Decide:
    """The engine does not know the sandbox any more."""

    def decide(session: Session, _: tuple[Step, ...]) -> Update | None:
        if session.state not in IN_SANDBOX or never_ran(session):
            return None
        detail = one_line(reason)
        return Update(
            replace(session, state=S.LOST, detail=detail, sandbox="", ended_at=now),
            (StepChange("run", "failed", detail),),
            close="failed",
            entry=entry_for("session.lost", session, actor="pinfold", outcome="failed", detail=detail),
        )

    return decide


def _close_running(steps: Iterable[Step], state: StepState, detail: str) -> tuple[StepChange, ...]:
    return tuple(StepChange(step.name, state, detail) for step in steps if step.state == "running")


def _tidy(step: StepChange) -> StepChange:
    return StepChange(step.name, step.state, one_line(step.detail))
