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
from services.policy.enforcing import NOT_YET, enforced
from services.policy.findings import Finding, findings
from services.policy.places import Place, look_on_disk
from services.policy.policies import Policies
from services.policy.policy import Allowances, Policy
from services.policy.spawn import Axis, Violation

__all__ = [
    "NOT_YET",
    "SIBLINGS",
    "WORKSPACE",
    "Allowances",
    "Axis",
    "Budget",
    "Change",
    "Confinement",
    "Decision",
    "Finding",
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
    "enforced",
    "findings",
    "look_on_disk",
    "permitted_passthrough",
]
