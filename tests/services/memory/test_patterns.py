"""Patterns of keys against a plain regular expression."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from services.memory.scopes.patterns import Pattern

LETTERS = "ab*%_\0\n\U0010ffff\ud7ff\ue000"
TEXTS = st.text(LETTERS, max_size=8)


@given(TEXTS, TEXTS)
def test_a_star_is_any_text_and_everything_else_is_itself(pattern: str, key: str) -> None:
    expected = ".*".join(map(re.escape, pattern.split("*"))) if pattern else ".*"
    assert Pattern.parse(pattern).matches(key) == (re.fullmatch(expected, key, re.DOTALL) is not None)


@given(TEXTS, TEXTS)
def test_what_matches_is_within_the_bounds_and_for_plain_patterns_nothing_else_is(pattern: str, key: str) -> None:
    parsed = Pattern.parse(pattern)
    first, end = parsed.bounds
    inside = first <= key and (end is None or key < end)
    assert inside or not parsed.matches(key)
    if parsed.plain:
        assert inside == parsed.matches(key)


def test_many_stars_take_no_long_time() -> None:
    assert not Pattern.parse("*a" * 500 + "b").matches("a" * 60_000)
