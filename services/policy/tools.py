"""May this agent call this tool, take this variable along?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from services.policy.decision import BUILT_IN, Decision, Origin, Rule, Verdict

_BASE_ENVIRONMENT = frozenset({"PATH", "HOME", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "USER", "SHELL", "TMPDIR"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a list of names.

    Attributes:
        entry: The name, or `*`.
    """

    entry: str
    origin: Origin = BUILT_IN

    def covers(self, name: str) -> bool:
        """Whether it is this name or stands for every name."""
        return self.entry in ("*", name)


@dataclass(frozen=True)
class ToolPolicy:
    """The rules about tools of one agent.

    Attributes:
        allowed: Empty: unrestricted. Tools of a tool server (`server__tool`) pass a list that does not name them.
        excluded: Always subtracts.
        always_ask: Beats `auto_approve`.
    """

    level: Literal["readonly", "supervised", "full"]
    allowed: tuple[Listed, ...] = ()
    excluded: tuple[Listed, ...] = ()
    auto_approve: tuple[Listed, ...] = ()
    always_ask: tuple[Listed, ...] = ()
    level_origin: Origin = BUILT_IN

    def rules(self) -> Iterator[Rule]:
        """Every rule about tools."""
        if not self.allowed:
            yield Rule("allowed_tools", "", "every tool")
        for kind, entries, effect in (
            ("allowed tool", self.allowed, "may be used"),
            ("excluded tool", self.excluded, "never"),
            ("auto_approve", self.auto_approve, "not asked"),
            ("always_ask", self.always_ask, "asked every time"),
        ):
            for entry in entries:
                yield _rule(kind, entry, effect)

    def decide(self, tool: str) -> Decision:
        """Judge one call of a tool by its name."""
        question = f"use the tool {tool}"
        excluded = _first(self.excluded, tool)
        if excluded is not None:
            return Decision(
                question, Verdict.DENY, "it is excluded", _rule("excluded tool", excluded, "never"), tool=tool
            )
        admitted = _first(self.allowed, tool)
        if self.allowed and admitted is None and "__" not in tool:
            origin = self.allowed[0].origin
            rule = Rule("allowed_tools", "", "only what is listed", origin)
            return Decision(question, Verdict.DENY, "it is not in allowed_tools", rule, tool=tool)
        considered = () if admitted is None else (_rule("allowed tool", admitted, "may be used"),)
        return self._by_approval(question, tool, considered)

    def _by_approval(self, question: str, tool: str, considered: tuple[Rule, ...]) -> Decision:
        if self.level == "full":
            rule = Rule("level", "full", "nothing is asked", self.level_origin)
            return Decision(question, Verdict.ALLOW, "the level is full", rule, considered, tool)
        asked = _first(self.always_ask, tool)
        approved = _first(self.auto_approve, tool)
        approving = None if approved is None else _rule("auto_approve", approved, "not asked")
        if asked is not None:
            rule = _rule("always_ask", asked, "asked every time")
            lost = considered if approving is None else (approving, *considered)
            return Decision(question, Verdict.ASK, "always_ask names it", rule, lost, tool)
        if approving is not None:
            return Decision(question, Verdict.ALLOW, "auto_approve names it", approving, considered, tool)
        rule = Rule("level", self.level, "what is not approved is asked", self.level_origin)
        return Decision(question, Verdict.ASK, "no list approves it", rule, considered, tool)


@dataclass(frozen=True)
class EnvironmentPolicy:
    """Which variables reach the sandbox.

    Attributes:
        passthrough: Those of Pinfold's own.
        given: Those the agent's file sets, with their values.
    """

    passthrough: tuple[Listed, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict, repr=False)

    def decide(self, name: str) -> Decision:
        """Judge one variable by its name."""
        question = f"take the variable {name} along"
        if not _NAME.fullmatch(name):
            return Decision(question, Verdict.DENY, "it is no variable's name", _VARIABLES)
        if name in _BASE_ENVIRONMENT:
            rule = Rule("base environment", name, "set by Pinfold")
            return Decision(question, Verdict.ALLOW, "every sandbox has it, with a value of its own", rule)
        listed = _first(self.passthrough, name)
        if listed is None:
            return Decision(question, Verdict.DENY, "env_passthrough does not name it", _VARIABLES)
        rule = _rule("env_passthrough", listed, "taken along")
        return Decision(question, Verdict.ALLOW, "env_passthrough names it", rule)


_VARIABLES = Rule("env_passthrough", "", "only what is listed")


def _first(entries: tuple[Listed, ...], name: str) -> Listed | None:
    return next((entry for entry in entries if entry.covers(name)), None)


def _rule(kind: str, entry: Listed, effect: str) -> Rule:
    return Rule(kind, entry.entry, effect, entry.origin)
