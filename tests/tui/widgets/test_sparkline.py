"""Samples become bars of a fixed width, the newest at the right."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.glyphs import ASCII, UNICODE
from tui.widgets.sparkline import bars


@pytest.mark.parametrize(
    ("values", "width", "top", "expected"),
    [
        ([], 4, 1.0, "    "),
        ([0.0, 1.0], 4, 1.0, "  ▁█"),
        ([0.0, 0.5, 1.0, 0.5, 0.0], 3, 1.0, "█▅▁"),
        ([2.0, 9.0], 2, 4.0, "▅█"),
        ([1.0, 2.0], 2, 0.0, "▅█"),
        ([0.0, 0.0], 2, 0.0, "▁▁"),
        ([-1.0, math.nan], 2, 1.0, "▁▁"),
        ([1.0], 0, 1.0, ""),
    ],
    ids=["none", "few", "many", "over-the-top", "own-scale", "zeros", "no-numbers", "no-room"],
)
def test_bars(values: list[float], width: int, top: float, expected: str) -> None:
    assert bars(values, width, top, signs=UNICODE) == expected


@given(st.lists(st.floats()), st.integers(0, 30), st.floats(allow_nan=False))
def test_bars_are_always_as_wide_as_asked(values: list[float], width: int, top: float) -> None:
    drawn = bars(values, width, top, signs=ASCII)
    assert len(drawn) == width
    assert drawn.isascii()
