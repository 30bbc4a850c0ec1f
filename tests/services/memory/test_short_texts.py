"""A short text takes a shorter way to JSON, and comes to the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.errors import InputRefused
from services.memory.scopes.values import VALUE_LIMIT, encode, to_json


@given(st.text())
def test_it_is_the_same_text(value: str) -> None:
    assert to_json(value) == encode(value).text


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb"])
def test_what_is_no_text_is_refused(value: str) -> None:
    with pytest.raises(InputRefused, match="not JSON"):
        to_json(value)


def test_the_longest_whose_every_character_grows_is_within_the_limit() -> None:
    assert len(to_json("\x00" * (VALUE_LIMIT // 8 - 1))) <= VALUE_LIMIT
    with pytest.raises(InputRefused, match="too large"):
        to_json("\x00" * VALUE_LIMIT)
