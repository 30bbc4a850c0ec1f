"""Namespaced keys of users, teams, chats and contexts."""

from services.memory.scopes.model import (
    MISSING,
    Entry,
    Json,
    Kept,
    Kind,
    Missing,
    Scope,
    ScopeKind,
    Snapshot,
    Stats,
)
from services.memory.scopes.namespace import Filled, Namespace
from services.memory.scopes.scopes import Scopes, Surroundings
from services.memory.scopes.times import Ttl
from services.memory.scopes.transfer import Transfer, TransferProgress
from services.memory.scopes.values import DEPTH_LIMIT, LIST_LIMIT, VALUE_LIMIT, from_json

__all__ = [
    "DEPTH_LIMIT",
    "LIST_LIMIT",
    "MISSING",
    "VALUE_LIMIT",
    "Entry",
    "Filled",
    "Json",
    "Kept",
    "Kind",
    "Missing",
    "Namespace",
    "Scope",
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
