"""A terminal not known to read UTF-8 gets ASCII, in the same columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tui.ascii_filter import AsciiFilter, ascii_text


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Cn"))))
def test_everything_becomes_ascii_of_the_same_width(text: str) -> None:
    plain = ascii_text(text)
    assert plain.isascii()
    assert len(plain) == sum(cell_len(character) for character in text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("│ ┌─┐", "| +-+"), ("café", "cafe"), ("日本", "????"), ("1,234 new ↓", "1,234 new v"), ("▁▄█", "_-#")],
    ids=["lines", "accents", "wide", "arrow", "bars"],
)
def test_what_has_a_likeness_keeps_it(text: str, expected: str) -> None:
    assert ascii_text(text) == expected


def test_styles_stay() -> None:
    style = Style(bold=True)
    assert AsciiFilter().apply([Segment("● up", style)], Color(0, 0, 0)) == [Segment("* up", style)]
