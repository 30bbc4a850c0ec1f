"""Cells are exactly as wide as their column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.text import safe
from tui.widgets.table import Span, cell
from tui.widgets.table.cells import fit


def text_of(spans) -> str:
    return "".join(span.text for span in spans)


@given(st.lists(st.text(max_size=12), min_size=1, max_size=4), st.integers(0, 30), st.booleans())
def test_a_fitted_cell_takes_its_width_whatever_it_holds(texts, width, right) -> None:
    spans = tuple(Span(safe(text)) for text in texts)
    assert cell_len(text_of(fit(spans, width, right=right))) == width


@pytest.mark.parametrize(
    ("text", "width", "right", "shown"),
    [
        ("41%", 5, True, "  41%"),
        ("41%", 5, False, "41%  "),
        ("reviewer", 8, False, "reviewer"),
        ("reviewer", 5, False, "revi…"),
        ("日本語", 5, False, "日本…"),
        ("日本語", 4, False, "日 …"),
    ],
    ids=["right", "left", "exact", "cut", "wide", "half-of-a-wide-one"],
)
def test_text_is_aligned_or_cut(text, width, right, shown) -> None:
    assert text_of(fit(cell(text), width, right=right)) == shown
