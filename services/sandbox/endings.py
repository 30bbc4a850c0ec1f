"""How a session ended, told from what its engine reports."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import msgspec

from services.sandbox.engines.engine import SandboxState
from services.sandbox.model import Session, SessionState, Step

_BY_SHELLS = {
    125: "status 125: the command could not be run",
    126: "status 126: the command was found but cannot be executed",
    127: "status 127: the command was not found",
}
_LAST_SIGNAL = 64
_RUNGS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM, "kill": signal.SIGKILL}


class Ending(msgspec.Struct, frozen=True):
    """What is recorded of an end; `detail` is one line for people."""

    state: SessionState
    detail: str


def ending(session: Session, steps: Sequence[Step], sandbox: SandboxState) -> Ending:
    """Tell an end from the engine's report and from what Pinfold did to the session.

    | engine says | Pinfold did | ended as |
    | --- | --- | --- |
    | main process out of memory | anything | out of memory |
    | anything else | was stopping it | stopped |
    | status 128 + n | had sent signal n | stopped |
    | status 128 + n | nothing | killed |
    | status 0 | nothing | exited |
    | any other status, or none | nothing | failed |
    """
    sent = [step.name for step in steps if step.name in _RUNGS]
    by_signal = _signal_of(sandbox.exit_code)
    if sandbox.out_of_memory:
        return Ending(SessionState.OUT_OF_MEMORY, _out_of_memory(session))
    if session.state is SessionState.STOPPING:
        return Ending(SessionState.STOPPED, _stopped(sent, sandbox.exit_code))
    if by_signal is not None and by_signal in {_RUNGS[name] for name in sent}:
        return Ending(SessionState.STOPPED, f"ended by {by_signal.name}, which was sent from here")
    if by_signal is not None:
        return Ending(SessionState.KILLED, f"ended by {by_signal.name}, which Pinfold did not send")
    if sandbox.exit_code == 0:
        return Ending(SessionState.EXITED, _child_out_of_memory(sandbox))
    return Ending(SessionState.FAILED, _failed(sandbox))


def _signal_of(exit_code: int | None) -> signal.Signals | None:
    if exit_code is None or not 128 < exit_code <= 128 + _LAST_SIGNAL:
        return None
    try:
        return signal.Signals(exit_code - 128)
    except ValueError:
        return None


def _out_of_memory(session: Session) -> str:
    limit = session.spec.limits.memory
    return f"needed more than its {limit // 1024**2} MiB of memory" if limit else "the machine ran out of memory"


def _child_out_of_memory(sandbox: SandboxState) -> str:
    return "a process inside was killed for want of memory" if sandbox.child_out_of_memory else ""


def _stopped(sent: Sequence[str], exit_code: int | None) -> str:
    how = {"interrupt": "after an interrupt", "terminate": "after TERM", "kill": "by KILL"}
    status = "" if exit_code is None else f", status {exit_code}"
    return f"stopped {how[sent[-1]]}{status}" if sent else f"stopped{status}"


def _failed(sandbox: SandboxState) -> str:
    if sandbox.error:
        return sandbox.error
    if sandbox.exit_code is None:
        return "ended, and the engine does not tell how"
    reason = _BY_SHELLS.get(sandbox.exit_code, f"status {sandbox.exit_code}")
    child = _child_out_of_memory(sandbox)
    return f"{reason}; {child}" if child else reason
