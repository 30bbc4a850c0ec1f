"""Namespaced keys of users, teams, chats and contexts."""

from services.memory.scopes.model import (
    MISSING,
    Entry,
    Json,
    Kept,
    Kind,
    Missing,
    Scope,
    ScopeCount,
    ScopeKind,
    Snapshot,
    Stats,
)
from services.memory.scopes.moving import Move
from services.memory.scopes.namespace import Filled, Namespace
from services.memory.scopes.paging import Excerpt, KeyPage
from services.memory.scopes.recording import Change, Held, Recorded
from services.memory.scopes.scopes import Scopes, Surroundings
from services.memory.scopes.searching import Found
from services.memory.scopes.times import Ttl
from services.memory.scopes.transfer import Transfer, TransferProgress
from services.memory.scopes.values import DEPTH_LIMIT, LIST_LIMIT, VALUE_LIMIT, from_json

__all__ = [
    "DEPTH_LIMIT",
    "LIST_LIMIT",
    "MISSING",
    "VALUE_LIMIT",
    "Change",
    "Entry",
    "Excerpt",
    "Filled",
    "Found",
    "Held",
    "Json",
    "Kept",
    "KeyPage",
    "Kind",
    "Missing",
    "Move",
    "Namespace",
    "Recorded",
    "Scope",
    "ScopeCount",
    "ScopeKind",
    "Scopes",
    "Snapshot",
    "Stats",
    "Surroundings",
    "Transfer",
    "TransferProgress",
    "Ttl",
    "from_json",
]
