"""Permissions, computed: what a sandbox sees and may use."""

from services.policy.confinement import (
    SIBLINGS,
    WORKSPACE,
    Confinement,
    Limits,
    Mount,
    confinement,
    permitted_passthrough,
)
from services.policy.places import Place, look_on_disk

__all__ = [
    "SIBLINGS",
    "WORKSPACE",
    "Confinement",
    "Limits",
    "Mount",
    "Place",
    "confinement",
    "look_on_disk",
    "permitted_passthrough",
]
