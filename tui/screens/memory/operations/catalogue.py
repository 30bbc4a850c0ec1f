"""All operations, in the order they are offered."""

from __future__ import annotations

from tui.screens.memory.items import Item
from tui.screens.memory.operations import agents, blocks, contexts, keys, lists
from tui.screens.memory.operations.operation import Operation
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, OpenContexts, Place, ScopeKeys, ScopesOf

OPERATIONS: tuple[Operation, ...] = (
    *keys.OPERATIONS,
    *lists.OPERATIONS,
    *agents.OPERATIONS,
    *blocks.OPERATIONS,
    *contexts.OPERATIONS,
)


def fitting(place: Place | None, item: Item | None) -> list[Operation]:
    """The operations that make sense for a place and the row under the cursor."""
    return [] if place is None else [operation for operation in OPERATIONS if operation.fits(place, item)]


def making(place: Place | None, item: Item | None) -> Operation | None:
    """The operation that makes something new in a place."""
    match place:
        case ScopesOf():
            return keys.SET_IN
        case ScopeKeys():
            return keys.SET
        case AgentRows():
            return agents.STORE
        case ArchiveOf():
            return blocks.INSERT
        case CoreBlocksOf():
            return blocks.APPEND if item is not None else None
        case OpenContexts():
            return contexts.OPERATIONS[0]
    return None
