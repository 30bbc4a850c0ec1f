"""May this agent run this shell line? Parsed by the shell's grammar, every program judged."""

from services.policy.commands.judge import AllowedCommand, CommandPolicy
from services.policy.commands.risk import Risk, risk_of

__all__ = ["AllowedCommand", "CommandPolicy", "Risk", "risk_of"]
