"""The pattern's process finds the lines that match when each is searched alone, however many it looks at together."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.output.search.regex_child import LineSearch

PATTERNS = [
    "a", "^a", "a$", "^$", "^a$", "a b", "a.b", "a.*b", ".*", r"a\s*b", r"\s+a", r"\sb$", "[^a]b", "[^x]*b", r"\Wb",
    r"\D+b", r"a\b", r"\ba", "(?i)A", "(a|b)c", "a{2}", "(?:a|^)b", r"a(?!\s*b)", "(?<!b)a", r"\Aa", r"a\Z", r"\Bb",
    "a*+b", "(?>a*)b", "a?b", "(?P<x>a)", r"(a)\1", "é", "[à-ü]", "(?s)a.b", "(?m)^a$", r"a\r", "a\tb", r"\x0ab",
    r"\012b",
]  # fmt: skip

texts = st.lists(st.text(alphabet="ab c\té\rA", max_size=12), max_size=30).map("\n".join)


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=15, deadline=None)
@given(text=texts, ended=st.booleans(), repeated=st.sampled_from([1, 500]))
def test_each_line_is_searched_as_if_alone(pattern: str, text: str, ended: bool, repeated: int) -> None:
    text = "\n".join([text] * repeated) + ("\n" if ended else "")
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    expected = [number for number, line in enumerate(lines) if re.search(pattern, line)]
    assert LineSearch(pattern, 0).matching(text) == expected
