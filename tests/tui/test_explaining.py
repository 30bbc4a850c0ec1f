"""Decisions in words."""

from __future__ import annotations

import pytest

from services.policy import Decision, Rule, Verdict
from tui.explaining import QUESTIONS, question_to, rules_said, verdict_said

RULE, LOSER, OTHER = (Rule(kind, "git", "may run") for kind in ("allowed command", "level", "sibling"))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.ALLOW, ("✓ worker may run git: it is listed", "good")),
        (Verdict.ASK, ("⚑ worker must ask before it may run git: it is listed", "warn")),
        (Verdict.DENY, ("✗ worker may not run git: it is listed", "bad")),
    ],
    ids=["allow", "ask", "deny"],
)
def test_a_verdict_reads_like_a_sentence_with_a_sign_and_a_tone(verdict, said) -> None:
    assert verdict_said("worker", Decision("run git", verdict, "it is listed", RULE)) == said


def test_the_rule_that_decided_comes_first_and_those_that_lost_after_it() -> None:
    decision = Decision("run git", Verdict.ALLOW, "", RULE, (LOSER, OTHER))
    assert list(rules_said(decision)) == [("decided by", RULE), ("over", LOSER), ("", OTHER)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_one_of_the_policy(question) -> None:
    class Policy:
        def __getattr__(self, name: str) -> str:
            return name

    assert question_to(Policy(), question) == question  # type: ignore[arg-type]  # answers with the name asked for
