"""A decision in words that an operator believes: the same on the command line and on screen.

Imports no Textual, so that the command line can say them at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.glyphs import glyphs
from tui.looks import Tone

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.policy import Decision, Policy, Rule

QUESTIONS = ("read", "write", "command", "domain", "tool", "variable")
"""What may be asked of a policy."""

_TONES: dict[str, Tone] = {"allow": "good", "ask": "warn", "deny": "bad"}
_MAY = {"allow": "may", "ask": "must ask before it may", "deny": "may not"}


def question_to(policy: Policy, question: str) -> Callable[[str], Decision]:
    """The question of a policy that one of `QUESTIONS` names."""
    answers: dict[str, Callable[[str], Decision]] = {
        "read": policy.read,
        "write": policy.write,
        "command": policy.command,
        "domain": policy.domain,
        "tool": policy.tool,
        "variable": policy.variable,
    }
    return answers[question]


def verdict_said(alias: str, decision: Decision) -> tuple[str, Tone]:
    """The verdict on one line with its sign, and its tone; foreign text in it is not cleaned yet."""
    verdict = decision.verdict.value
    signs = glyphs()
    sign = {"allow": signs.done, "ask": signs.waiting, "deny": signs.failed}[verdict]
    return f"{sign} {alias} {_MAY[verdict]} {decision.question}: {decision.reason}", _TONES[verdict]


def rules_said(decision: Decision) -> Iterator[tuple[str, Rule]]:
    """The rule that decided, then those that lost, each with a word for its part."""
    yield "decided by", decision.rule
    for number, rule in enumerate(decision.considered):
        yield ("over" if number == 0 else ""), rule
