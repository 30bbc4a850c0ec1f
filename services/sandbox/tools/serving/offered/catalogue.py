"""Every tool there is, and which of them a session is offered."""

from __future__ import annotations

from collections.abc import Mapping

from services.policy import Policy, Verdict
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.offered.core_tools import core_tools
from services.sandbox.tools.serving.offered.drop_box_tools import drop_box_tools
from services.sandbox.tools.serving.offered.memory_tools import memory_tools
from services.sandbox.tools.serving.offered.namespace_tools import namespace_tools
from services.sandbox.tools.serving.offered.tool import Tool

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (*memory_tools(), *core_tools(), *namespace_tools(), *drop_box_tools())
}
"""By name."""


def offered(grant: Grant, policy: Policy) -> tuple[Tool, ...]:
    """The tools a session may call, asked first or not; what its policy denies it never sees."""
    return tuple(
        tool
        for tool in TOOLS.values()
        if tool.wanted(grant)
        and policy.tool(tool.name).verdict is not Verdict.DENY
        and not (tool.acts and policy.level == "readonly")
    )
