"""What a decision is: a verdict, the rule that made it, where that rule comes from, and the rules that lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Verdict(StrEnum):
    """May it happen? Ordered by `strictness`."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        """0 for allow, 1 for ask, 2 for deny."""
        return _STRICTNESS[self]


_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


def strictest(*verdicts: Verdict) -> Verdict:
    """The verdict that permits least; allow when there is none."""
    return max(verdicts, key=lambda verdict: verdict.strictness, default=Verdict.ALLOW)


Key = tuple[str | int, ...]
"""The way to a key: names of tables and, counted from 0, places in lists."""

Lines = Callable[[Key], int]
"""Tells on which line of a TOML text a key stands, counted from 1; 0 when unknown."""


def no_lines(key: Key) -> int:
    """Lines where the text is not at hand."""
    return 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a rule was written.

    Attributes:
        file: The TOML file; None for what Pinfold itself supplies.
        path: The way to its key.
        profile: The risk profile's name, "" when the rule is the agent's own or built in.
        preset: The preset the profile has it from, whose name then stands at `path`; "" when it says so itself.
        lines: Finds the line when somebody asks.
    """

    file: Path | None = None
    path: Key = ()
    profile: str = ""
    lines: Lines = field(default=no_lines, repr=False, compare=False)
    preset: str = ""

    @property
    def key(self) -> str:
        """The dotted key, such as `permissions.forbidden_paths[2]`."""
        from services.agents import dotted  # here, since decisions are made in the egress proxy too, without agents

        return dotted(self.path)

    @property
    def line(self) -> int:
        """Counted from 1; 0 when unknown."""
        return self.lines(self.path)

    def __str__(self) -> str:
        if self.file is None:
            return "built in"
        line = self.line
        place = f"{self.file.name}:{line}" if line else self.file.name
        preset = f", preset {self.preset}" if self.preset else ""
        return f"{place} (profile {self.profile}{preset})" if self.profile else place


BUILT_IN = Origin()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy.

    Attributes:
        kind: What sort of rule: `workspace`, `sibling`, `allowed root`, `forbidden path`, `allowed command`, …
        subject: What it covers, as written or resolved.
        effect: What it says about its subject, for people: "read only", "forbidden".
    """

    kind: str
    subject: str
    effect: str
    origin: Origin = BUILT_IN

    def __str__(self) -> str:
        subject = f" {self.subject}" if self.subject else ""
        return f"{self.kind}{subject}: {self.effect}, {self.origin}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one question put to a policy.

    Attributes:
        question: What was asked, for people: "read /etc/passwd".
        reason: One clause that an operator believes: why this verdict.
        rule: The rule that decided.
        considered: The other rules that had a say and lost, the nearest first.
        tool: The tool that was asked about, if one was.
    """

    question: str
    verdict: Verdict
    reason: str
    rule: Rule
    considered: tuple[Rule, ...] = ()
    tool: str = ""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.question}: {self.reason} ({self.rule.origin})"
