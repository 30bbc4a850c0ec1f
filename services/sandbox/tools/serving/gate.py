"""Whether a call goes ahead: the policy decides, an operator is asked where it says so, and actions take a slot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from services.errors import SessionRefused
from services.memory import masked
from services.policy import Decision, Policy, Verdict
from services.sandbox.tools.approvals import Answer, Approvals
from services.sandbox.tools.budget import ActionBudget
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.offered import Tool

_SHOWN = 2000


class Gate:
    """Lets calls through.

    Args:
        approvals: Asks operators.
        budget: Counts actions.
    """

    def __init__(self, approvals: Approvals, budget: ActionBudget) -> None:
        self._approvals = approvals
        self._budget = budget

    @asynccontextmanager
    async def passed(
        self, grant: Grant, policy: Policy, tool: Tool, arguments: Mapping[str, Any]
    ) -> AsyncIterator[None]:
        """Let a call happen in a block, or raise before it does; an action that fails costs nothing.

        Raises:
            SessionRefused: It may not happen; says why.
        """
        if not tool.wanted(grant):
            raise SessionRefused(f"{tool.name} is out of reach", why="the session's token does not grant it")
        if tool.acts and policy.level == "readonly":
            raise SessionRefused(f"{tool.name} is refused", why="the agent is readonly")
        decision = policy.tool(tool.name)
        if decision.verdict is Verdict.DENY:
            raise SessionRefused(f"{tool.name} is refused", why=decision.reason)
        if decision.verdict is Verdict.ASK:
            await self._ask(grant, policy, tool, arguments, decision)
        if not tool.acts:
            yield
            return
        async with self._budget.action(grant.agent, policy.allowances.max_actions_per_hour):
            yield

    async def _ask(
        self, grant: Grant, policy: Policy, tool: Tool, arguments: Mapping[str, Any], decision: Decision
    ) -> None:
        every_time = decision.rule.kind == "always_ask"
        if not every_time and await self._approvals.allowed_before(grant.session, tool.name):
            return
        seconds = policy.allowances.approval_timeout
        reply = await self._approvals.ask(
            grant.session,
            grant.agent,
            tool.name,
            summary=_summary(arguments),
            reason=decision.reason,
            seconds=seconds,
            rule=str(decision.rule),
            every_time=every_time,
        )
        if reply.answer is Answer.TIMED_OUT:
            raise SessionRefused(
                f"{tool.name} is refused",
                why=f"it needs an operator's approval and nobody answered within {seconds:g} seconds",
                fix="Go on without it, or try again later.",
            )
        if reply.answer is Answer.REFUSED:
            why = f"the operator refused it: {reply.words}" if reply.words else "the operator refused it"
            raise SessionRefused(f"{tool.name} is refused", why=why, fix="Go on without it.")


def _summary(arguments: Mapping[str, Any]) -> str:
    """Arguments for an operator, secrets masked before anything is cut."""
    parts = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        cut = masked(text[:_SHOWN]).replace("\n", " ")
        parts.append(f"{name[:40]}={cut[:120]}{'…' if len(cut) > 120 else ''} ({len(text):,} characters)")
    return ", ".join(parts)
