"""What agents store and recall: rows behind one protocol, kept in SQLite, in files of the workspace, or nowhere."""

from services.memory.agents.agent_memories import AgentMemories, screening_of
from services.memory.agents.agent_memory import AgentMemory
from services.memory.agents.backend import Backend, BackendStatus, Cutoffs, Listing, Pruned
from services.memory.agents.hygiene import Retention
from services.memory.agents.markdown import MarkdownBackend
from services.memory.agents.model import (
    CONTENT_LIMIT,
    CONVERSATION,
    CORE,
    DAILY,
    Draft,
    Owner,
    Query,
    Recalled,
    Recollection,
    Row,
    new_id,
)
from services.memory.agents.moving import MovePlan, MoveProgress, Mover
from services.memory.agents.nothing import NoBackend
from services.memory.agents.sqlite import SqliteBackend
from services.memory.agents.tidying import Tidying, retention_of
from services.memory.agents.vectors import EmbedPlan, EmbedProgress

__all__ = [
    "CONTENT_LIMIT",
    "CONVERSATION",
    "CORE",
    "DAILY",
    "AgentMemories",
    "AgentMemory",
    "Backend",
    "BackendStatus",
    "Cutoffs",
    "Draft",
    "EmbedPlan",
    "EmbedProgress",
    "Listing",
    "MarkdownBackend",
    "MovePlan",
    "MoveProgress",
    "Mover",
    "NoBackend",
    "Owner",
    "Pruned",
    "Query",
    "Recalled",
    "Recollection",
    "Retention",
    "Row",
    "SqliteBackend",
    "Tidying",
    "new_id",
    "retention_of",
    "screening_of",
]
