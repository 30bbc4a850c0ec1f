"""Which rules something holds an agent to, and which are only decided.

A sandbox enforces places, network, variables and its own limits; of the level, that a readonly agent writes nothing.
The tool server enforces what is said of the tools it serves. What an agent does with its runner's own tools and
commands, and how much of it, takes the runners' own rules, which Pinfold does not write yet.
"""

from __future__ import annotations

from enum import StrEnum

from services.policy.decision import Decision, Rule
from services.policy.served_tools import SERVED_TOOLS


class Held(StrEnum):
    """Whether a session is held to a rule today; the value is the word shown."""

    EVERYWHERE = "yes"
    SERVED_TOOLS = "own tools"
    """By the tools Pinfold serves, not by the runner's."""
    NOT_YET = "not yet"

    @property
    def remark(self) -> str:
        """Said wherever a rule is shown that is not held everywhere; else ""."""
        return _REMARKS.get(self, "")


_REMARKS = {
    Held.SERVED_TOOLS: "enforced for the tools Pinfold serves, not yet for the runner's own",
    Held.NOT_YET: "held, not yet enforced: the runner's own tools are not judged",
}

_ABOUT_TOOLS = frozenset({"allowed tool", "excluded tool", "auto_approve", "always_ask"})
_BY_SERVED_TOOLS = frozenset({"level", "allowed_tools", "max_actions_per_hour"})
_BY_RUNNERS = frozenset(
    {
        *("allowed command", "allowed_commands", "program rule", "shell grammar", "variable spoofing"),
        *("redirections", "wrapped command", "block_high_risk_commands", "require_approval_for_medium_risk"),
        *("max_cost_per_day", "shell_timeout", "delegation"),
    }
)
"""Kinds of rules."""


def held(rule: Rule) -> Held:
    """Whether a session is held to a rule today."""
    if rule.kind in _ABOUT_TOOLS:
        if rule.subject in SERVED_TOOLS:
            return Held.EVERYWHERE
        return Held.SERVED_TOOLS if rule.subject == "*" else Held.NOT_YET
    if rule.kind in _BY_SERVED_TOOLS:
        return Held.SERVED_TOOLS
    return Held.NOT_YET if rule.kind in _BY_RUNNERS else Held.EVERYWHERE


def held_to(decision: Decision) -> Held:
    """Whether a session is held to a decision today."""
    if decision.tool:
        return Held.EVERYWHERE if decision.tool in SERVED_TOOLS else Held.NOT_YET
    found = held(decision.rule)
    return Held.NOT_YET if found is Held.SERVED_TOOLS else found
