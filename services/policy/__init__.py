"""Permissions, computed: what an agent may do, why, and what its sandbox sees and may use."""

from services.policy.budget import Budget
from services.policy.changes import Change, changes
from services.policy.confinement import (
    SIBLINGS,
    WORKSPACE,
    Confinement,
    Limits,
    Mask,
    Mount,
    confinement,
    permitted_passthrough,
)
from services.policy.decision import Decision, Origin, Rule, Verdict
from services.policy.enforcing import Held, held, held_to
from services.policy.findings import Finding, findings
from services.policy.places import Place, look_on_disk
from services.policy.policies import Policies
from services.policy.policy import Allowances, Policy
from services.policy.spawn import Axis, Violation

__all__ = [
    "SIBLINGS",
    "WORKSPACE",
    "Allowances",
    "Axis",
    "Budget",
    "Change",
    "Confinement",
    "Decision",
    "Finding",
    "Held",
    "Limits",
    "Mask",
    "Mount",
    "Origin",
    "Place",
    "Policies",
    "Policy",
    "Rule",
    "Verdict",
    "Violation",
    "changes",
    "confinement",
    "findings",
    "held",
    "held_to",
    "look_on_disk",
    "permitted_passthrough",
]
