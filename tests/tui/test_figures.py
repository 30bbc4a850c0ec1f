"""Numbers, times and paths as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.figures import SECOND, ago, counted, duration, middle, percent, size, span
from tui.text import safe


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (-3, "0s"),
        (59.9, "59s"),
        (60, "1m00s"),
        (252, "4m12s"),
        (3600, "1h00m"),
        (86399, "23h59m"),
        (187200, "2d04h"),
    ],
    ids=str,
)
def test_a_duration_has_its_two_largest_units(seconds, shown) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(900, "15m"), (5400, "1h30m"), (45, "45s"), (0, "0s"), (90061, "1d1h1m1s")], ids=str
)
def test_a_set_length_is_written_without_zeros(seconds, shown) -> None:
    assert span(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "now"), (4, "now"), (5, "5s"), (59, "59s"), (60, "1m"), (7200, "2h"), (90000, "1d")],
    ids=str,
)
def test_how_long_ago_has_one_unit(seconds, shown) -> None:
    assert ago(0, seconds * SECOND) == shown


def test_never_and_the_future_have_a_word_too() -> None:
    assert ago(None, 5) == "–"
    assert ago(10 * SECOND, 0) == "now"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0"), (812, "812"), (1023, "1.0K"), (1229, "1.2K"), (98 << 20, "98M"), (2 << 30, "2.0G"), (5 << 50, "5120T")],
    ids=str,
)
def test_bytes_are_written_short(count, shown) -> None:
    assert size(count) == shown


@given(st.integers(0, 1 << 49))
def test_bytes_take_at_most_four_columns(count) -> None:
    assert len(size(count)) <= 4


def test_busy_cores_are_a_percentage_of_one() -> None:
    assert percent(0.414) == "41%"
    assert percent(1.98) == "198%"


@given(st.text(max_size=60), st.integers(1, 40))
def test_a_shortened_text_is_never_too_wide_and_short_ones_are_left_alone(text, width) -> None:
    text = safe(text)
    shown = middle(text, width)
    assert cell_len(shown) <= width
    assert shown == text or cell_len(text) > width


def test_a_path_keeps_its_end() -> None:
    assert middle("/home/op/.pinfold/agents/reviewer/workspace", 24) == "/home/o…viewer/workspace"


def test_counts_have_their_noun() -> None:
    assert counted(1, "session") == "1 session"
    assert counted(1234, "line") == "1,234 lines"
    assert counted(2, "entry", "entries") == "2 entries"
