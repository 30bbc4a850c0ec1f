"""Sessions and their sandboxes: started, followed, found again, stopped and cleaned up."""

from services.sandbox.engines.engine import Engine, EngineStatus, PullProgress, SandboxState, Shell, Usage
from services.sandbox.model import Limits, Mount, SandboxSpec, Session, SessionState, StartRequest, Step, StepState
from services.sandbox.once import OnceMarkers
from services.sandbox.records import SessionRecord, read_record, record_of, restore_session
from services.sandbox.recovery import Orphan
from services.sandbox.renaming import rename_sessions
from services.sandbox.rows import Changes
from services.sandbox.runners import RunnerStatus
from services.sandbox.service import Sandboxes
from services.sandbox.session_ids import new_session_id
from services.sandbox.starting import StartProgress
from services.sandbox.tools import Approval, Approvals

__all__ = [
    "Approval",
    "Approvals",
    "Changes",
    "Engine",
    "EngineStatus",
    "Limits",
    "Mount",
    "OnceMarkers",
    "Orphan",
    "PullProgress",
    "RunnerStatus",
    "SandboxSpec",
    "SandboxState",
    "Sandboxes",
    "Session",
    "SessionRecord",
    "SessionState",
    "Shell",
    "StartProgress",
    "StartRequest",
    "Step",
    "StepState",
    "Usage",
    "new_session_id",
    "read_record",
    "record_of",
    "rename_sessions",
    "restore_session",
]
