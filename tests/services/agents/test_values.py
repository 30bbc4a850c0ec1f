"""Values are compared in kind as well as in what they are worth."""

from __future__ import annotations

import copy
import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agents.values import MISSING, differences, identity, same, value_at, with_value, without

scalars = st.sampled_from(
    [True, False, 1, 0, 1.0, 0.0, -0.0, float("nan"), "1", "", "a", dt.date(2024, 2, 29), dt.datetime(2024, 2, 29)]  # noqa: DTZ001 - TOML has dates without a zone
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", ""]), inner, max_size=2),
    max_leaves=6,
)
tables = st.dictionaries(st.sampled_from(["a", "b", ""]), values, max_size=3)


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, False),
        (1, True, False),
        ("1", 1, False),
        (float("nan"), float("nan"), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        (["a"], ("a",), True),
        ([1], [1.0], False),
        ([], "", False),
        (MISSING, MISSING, True),
        (MISSING, {}, False),
    ],
)
def test_a_number_is_not_another_kind_of_number(one: object, other: object, equal: bool) -> None:
    assert same(one, other) == same(other, one) == equal


@given(values, values)
def test_two_values_have_one_identity_exactly_when_they_are_the_same(one: Any, other: Any) -> None:
    assert same(one, copy.deepcopy(one))
    assert (identity(one) == identity(other)) == same(one, other)


@given(tables, tables)
def test_two_tables_differ_exactly_where_it_is_said(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (list(differences(one, other)) == []) == same(one, other)
    for path in differences(one, other):
        assert not same(value_at(one, path), value_at(other, path))


def test_a_table_that_comes_or_goes_differs_in_each_of_its_keys() -> None:
    full = {"a": {"x": 1, "y": {"z": 2}}}
    for before, after in ((full, {}), ({}, full)):
        assert list(differences(before, after)) == [("a", "x"), ("a", "y", "z")]
    assert list(differences({}, {"a": {}})) == [("a",)]


def test_a_copy_is_changed_and_never_the_table_itself() -> None:
    table = {"a": {"x": 1}, "l": [{"y": 1}]}
    assert with_value(table, ("a", "z", "w"), 2) == {"a": {"x": 1, "z": {"w": 2}}, "l": [{"y": 1}]}
    assert with_value(table, ("l", 0, "y"), 2)["l"] == [{"y": 2}]
    assert list(without(table, ("a", "x"))) == [{"a": {}, "l": [{"y": 1}]}, {"l": [{"y": 1}]}]
    assert list(without(table, ("a", "q"))) == [table] == [{"a": {"x": 1}, "l": [{"y": 1}]}]
    with pytest.raises(TypeError):
        with_value(table, ("a", "x", "y"), 1)
