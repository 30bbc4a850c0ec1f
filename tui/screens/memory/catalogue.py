"""All operations, in the order they are offered."""

from __future__ import annotations

from tui.screens.memory import agent_operations, block_operations, context_operations, key_operations, list_operations
from tui.screens.memory.items import Item
from tui.screens.memory.operations import Operation
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, OpenContexts, Place, ScopeKeys

OPERATIONS: tuple[Operation, ...] = (
    *key_operations.OPERATIONS,
    *list_operations.OPERATIONS,
    *agent_operations.OPERATIONS,
    *block_operations.OPERATIONS,
    *context_operations.OPERATIONS,
)


def fitting(place: Place | None, item: Item | None) -> list[Operation]:
    """The operations that make sense for a place and the row under the cursor."""
    return [] if place is None else [operation for operation in OPERATIONS if operation.fits(place, item)]


def making(place: Place | None, item: Item | None) -> Operation | None:
    """The operation that makes something new in a place."""
    match place:
        case ScopeKeys():
            return key_operations.SET
        case AgentRows():
            return agent_operations.STORE
        case ArchiveOf():
            return block_operations.INSERT
        case CoreBlocksOf():
            return block_operations.APPEND if item is not None else None
        case OpenContexts():
            return context_operations.OPERATIONS[0]
    return None
