"""The viewport against a model that holds every part of every row in a list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.log_pane.viewport import Place, Viewport


def parts_of(row: int) -> int:
    """Rows of one to four parts, as wrapped lines have; any fixed rule will do."""
    return 1 + (row * 7919 % 11) // 3


def viewport(end: int, height: int, first: int = 0) -> Viewport:
    view = Viewport(parts_of)
    view.height = height
    view.take(first, end)
    return view


def model(first: int, end: int) -> list[Place]:
    return [Place(row, part) for row in range(first, end) for part in range(parts_of(row))]


SIZES = st.integers(0, 60)
HEIGHTS = st.integers(1, 12)


@given(end=SIZES, height=HEIGHTS, moves=st.lists(st.integers(-30, 30), max_size=8))
def test_scrolling_walks_over_every_part(end: int, height: int, moves: list[int]) -> None:
    view, parts = viewport(end, height), model(0, end)
    offset = max(len(parts) - height, 0)
    assert view.visible() == parts[offset:]
    for move in moves:
        view.move(move)
        offset = max(min(offset + move, len(parts) - height), 0)
        assert view.visible() == parts[offset : offset + height]
        assert view.at_end == (offset >= len(parts) - height)


@given(end=SIZES, height=HEIGHTS, up=st.integers(1, 200), more=st.integers(0, 500), data=st.data())
def test_what_arrives_or_is_dropped_elsewhere_moves_nothing(
    end: int, height: int, up: int, more: int, data: st.DataObject
) -> None:
    view = viewport(end, height)
    view.move(-up)
    before = view.visible()
    full = len(before) == height
    first = data.draw(st.integers(0, view.top.row))
    view.take(first, end + more)
    assert view.visible()[: len(before)] == before
    assert not full or view.visible() == before


@given(end=SIZES, more=SIZES, height=HEIGHTS)
def test_following_keeps_the_newest_row_in_sight(end: int, more: int, height: int) -> None:
    view = viewport(end, height)
    view.take(0, end + more)
    assert view.visible() == model(0, end + more)[-height:]
    assert view.following


@given(end=st.integers(1, 60), height=HEIGHTS, gone=st.integers(1, 80))
def test_a_place_that_was_dropped_becomes_the_oldest_row(end: int, height: int, gone: int) -> None:
    view = viewport(end, height)
    view.move(-1000)
    view.take(gone, end + gone)
    parts = model(gone, end + gone)
    assert view.visible() == parts[: min(height, len(parts))]


@given(end=st.integers(1, 60), height=HEIGHTS, start=st.integers(0, 200), row=st.integers(0, 59))
def test_a_row_asked_for_comes_into_sight(end: int, height: int, start: int, row: int) -> None:
    view = viewport(end, height)
    view.move(-start)
    row = min(row, end - 1)
    before = view.visible()
    view.show(row)
    shown = view.visible()
    assert Place(row, 0) in shown or parts_of(row) > height
    if all(Place(row, part) in before for part in range(parts_of(row))):
        assert shown == before


def test_only_rows_near_the_screen_are_measured() -> None:
    asked: list[int] = []

    def measure(row: int) -> int:
        asked.append(row)
        return 1

    view = Viewport(measure)
    view.height = 40
    view.take(0, 10_000_000)
    view.move(-5_000_000 // 1000)
    view.go_to(Place(5_000_000))
    asked.clear()
    view.take(0, 11_000_000)
    view.visible()
    view.move(3)
    assert len(asked) < 200


@pytest.mark.parametrize("height", [0, 1, 50], ids=["none", "one", "many"])
def test_no_rows_show_nothing(height: int) -> None:
    view = viewport(0, height)
    view.move(5)
    view.show(3)
    assert view.visible() == []
    assert view.at_end
