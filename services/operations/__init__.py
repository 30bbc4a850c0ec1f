"""Rename, delete, restore: planned first, then journalled step by step, so that whatever is killed can be completed."""

from services.operations.describing import described
from services.operations.house import House
from services.operations.journal import Journal, OperationChanged
from services.operations.model import (
    Action,
    Blocker,
    Effect,
    KeyChange,
    Kind,
    Operation,
    OperationState,
    Options,
    Part,
    Plan,
    PlannedStep,
    Progress,
    Reference,
    ReferenceKind,
    Rewrite,
    Step,
    StepState,
)
from services.operations.operations import Operations, new_operation_id

__all__ = [
    "Action",
    "Blocker",
    "Effect",
    "House",
    "Journal",
    "KeyChange",
    "Kind",
    "Operation",
    "OperationChanged",
    "OperationState",
    "Operations",
    "Options",
    "Part",
    "Plan",
    "PlannedStep",
    "Progress",
    "Reference",
    "ReferenceKind",
    "Rewrite",
    "Step",
    "StepState",
    "described",
    "new_operation_id",
]
