"""How columns share the width of a table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.table import Column, cell, place
from tui.widgets.table.columns import GAP


def column(key: str, width: int, *, grow: int = 0, most: int = 0, drop: int = 0) -> Column[str]:
    return Column(key, key.upper(), lambda row, _: cell(row), None, width, grow=grow, most=most, drop=drop)


COLUMNS = st.lists(
    st.tuples(st.integers(1, 20), st.integers(0, 3), st.integers(0, 30), st.integers(0, 4)), min_size=1, max_size=8
).map(
    lambda rows: [
        column(f"c{index}", width, grow=grow, most=max(most, width) if most else 0, drop=drop)
        for index, (width, grow, most, drop) in enumerate(rows)
    ]
)


@given(COLUMNS, st.integers(0, 250), st.integers(0, 4))
def test_columns_never_overlap_nor_leave_the_table(columns, width, indent) -> None:
    end = indent
    for placed in place(columns, width, indent=indent):
        assert placed.x >= end
        assert placed.width == 0 or placed.x + placed.width <= width
        end = placed.x + placed.width


@given(COLUMNS, st.integers(0, 250))
def test_columns_that_never_go_are_always_placed(columns, width) -> None:
    kept = {column.key for column in columns if column.drop == 0}
    assert kept <= {placed.column.key for placed in place(columns, width)}


@given(COLUMNS, st.integers(0, 250))
def test_no_column_grows_beyond_its_most(columns, width) -> None:
    for placed in place(columns, width):
        if placed.column.most:
            assert placed.width <= placed.column.most


def test_the_first_to_go_is_the_one_with_the_lowest_drop() -> None:
    columns = [column("a", 10), column("b", 10, drop=2), column("c", 10, drop=1)]
    assert [placed.column.key for placed in place(columns, 10 + GAP + 10)] == ["a", "b"]


def test_what_is_left_over_goes_to_those_that_may_grow() -> None:
    placed = place([column("a", 10), column("b", 10, grow=1)], 50)
    assert [(each.x, each.width) for each in placed] == [(0, 10), (10 + GAP, 50 - 10 - GAP)]
