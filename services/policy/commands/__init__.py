"""May this agent run this shell line? Parsed by the shell's grammar, every program judged."""

from services.policy.commands.judge import AllowedCommand, CommandPolicy
from services.policy.commands.risk import Risk

__all__ = ["AllowedCommand", "CommandPolicy", "Risk"]
