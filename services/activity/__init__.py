"""What just changed (the event stream) and what was done (the activity log)."""

from services.activity.events import (
    ActivityGrew,
    AgentsChanged,
    ApprovalsChanged,
    EngineChanged,
    Event,
    Events,
    Listener,
    SessionChanged,
)
from services.activity.log import ActivityLog, Draft, Entry, Outcome

__all__ = [
    "ActivityGrew",
    "ActivityLog",
    "AgentsChanged",
    "ApprovalsChanged",
    "Draft",
    "EngineChanged",
    "Entry",
    "Event",
    "Events",
    "Listener",
    "Outcome",
    "SessionChanged",
]
