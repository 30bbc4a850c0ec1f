"""The tool server at work: tools, the policy before them, and MCP over a unix socket or standard input and output.

Loading it loads the services of memory; the SDK of MCP is loaded when something is served.
"""

from __future__ import annotations

from collections.abc import Callable

from services.activity import ActivityLog, Events
from services.home import BlockingCalls, Database, Home
from services.policy import Policies
from services.sandbox.tools.approvals import Approvals
from services.sandbox.tools.budget import ActionBudget
from services.sandbox.tools.serving.calls import RESULT_LIMIT, Answered, Calls
from services.sandbox.tools.serving.departed import Departed, Gone
from services.sandbox.tools.serving.gate import Gate
from services.sandbox.tools.serving.offered import TOOLS, Stores
from services.sandbox.tools.serving.server import ToolServer
from services.sandbox.tools.tokens import Tokens

__all__ = ["RESULT_LIMIT", "TOOLS", "Answered", "Calls", "Gate", "Stores", "ToolServer", "make_tool_server"]


def make_tool_server(
    home: Home,
    database: Database,
    activity: ActivityLog,
    events: Events,
    policies: Policies,
    stores: Stores,
    gone: Gone,
    calls: BlockingCalls,
    now: Callable[[], int],
) -> ToolServer:
    """Build the tool server of a home; it listens once it is told to."""
    gate = Gate(Approvals(database, activity, events, now), ActionBudget(database, now))
    tokens = Tokens(database, now)
    departed = Departed(database, activity, events, tokens, gone)
    return ToolServer(home, Calls(policies, stores, gate, activity), tokens, departed, calls)
