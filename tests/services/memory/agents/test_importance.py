"""How important rows are when nobody said. Row E16 of the checklist, in part."""

from __future__ import annotations

import pytest

from services.memory.agents.importance import estimated


@pytest.mark.parametrize(
    ("category", "content", "expected"),
    [
        ("core", "tea", 0.7),
        ("notes", "tea", 0.4),
        ("daily", "tea", 0.3),
        ("conversation", "tea", 0.2),
        ("core", "Always drink tea", 0.8),
        ("core", "never, NEVER drink tea", 0.8),
        ("core", "a critical rule: tea must be hot", 0.9),
        ("daily", "decision_policy", 0.5),
        ("conversation", "mustard is unimportant", 0.2),
    ],
)
def test_importance_is_by_category_and_by_words_that_signal_a_rule(
    category: str, content: str, expected: float
) -> None:
    assert estimated(category, content) == expected
