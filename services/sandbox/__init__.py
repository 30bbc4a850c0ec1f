"""Sessions and their sandboxes: started, followed, found again, stopped and cleaned up."""

from services.sandbox.engines.engine import Engine, EngineStatus, PullProgress, SandboxState, Shell, Usage
from services.sandbox.model import Limits, Mount, SandboxSpec, Session, SessionState, StartRequest, Step, StepState
from services.sandbox.recovery import Orphan
from services.sandbox.renaming import rename_sessions
from services.sandbox.rows import Changes
from services.sandbox.runners import RunnerStatus
from services.sandbox.service import Sandboxes
from services.sandbox.session_ids import new_session_id
from services.sandbox.starting import StartProgress

__all__ = [
    "Changes",
    "Engine",
    "EngineStatus",
    "Limits",
    "Mount",
    "Orphan",
    "PullProgress",
    "RunnerStatus",
    "SandboxSpec",
    "SandboxState",
    "Sandboxes",
    "Session",
    "SessionState",
    "Shell",
    "StartProgress",
    "StartRequest",
    "Step",
    "StepState",
    "Usage",
    "new_session_id",
    "rename_sessions",
]
