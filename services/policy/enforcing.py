"""Which rules something holds an agent to, and which are only decided.

A sandbox enforces places, network, variables and its own limits; of the level, that a readonly agent writes nothing.
What an agent does inside with commands and tools, and how much of it, is enforced by what serves its tools; Pinfold
does not serve any yet.
"""

from __future__ import annotations

from services.policy.decision import Rule

NOT_YET = "held, not yet enforced: no tool server"
"""Said wherever a rule is shown that nothing enforces."""

_BY_TOOL_SERVER = frozenset(
    {
        *("level", "allowed command", "allowed_commands", "program rule", "shell grammar", "variable spoofing"),
        *("redirections", "wrapped command", "block_high_risk_commands", "require_approval_for_medium_risk"),
        *("allowed tool", "allowed_tools", "excluded tool", "auto_approve", "always_ask"),
        *("max_actions_per_hour", "max_cost_per_day", "shell_timeout", "approval_timeout", "delegation"),
    }
)
"""Kinds of rules."""


def enforced(rule: Rule) -> bool:
    """Whether a session is held to a rule today."""
    return rule.kind not in _BY_TOOL_SERVER
