"""The tools that Pinfold serves to agents in sandboxes, over MCP: tokens, approvals, what a session finds of them.

This folder is what sessions need; `serving` is the server itself, which loads much more.
"""

from services.sandbox.tools.approvals import Answer, Approval, Approvals, Reply, waiting_numbers
from services.sandbox.tools.budget import ActionBudget
from services.sandbox.tools.delivery import INLET_PYTHON, Delivery
from services.sandbox.tools.grants import Grant, Token
from services.sandbox.tools.sockets import tools_dir
from services.sandbox.tools.supply import Supply
from services.sandbox.tools.tokens import Tokens, revoke

__all__ = [
    "INLET_PYTHON",
    "ActionBudget",
    "Answer",
    "Approval",
    "Approvals",
    "Delivery",
    "Grant",
    "Reply",
    "Supply",
    "Token",
    "Tokens",
    "revoke",
    "tools_dir",
    "waiting_numbers",
]
