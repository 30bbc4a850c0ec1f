"""Lists: appended to, taken from at both ends, read by index, slice and page. Rows M30-M42."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.errors import InputRefused, NothingThere, WrongKind
from services.memory import LIST_LIMIT, Namespace
from tests.services.memory.conftest import SECOND, Clock

LIST_OPERATIONS = {
    "push": lambda keys: keys.push("k", 1),
    "pop": lambda keys: keys.pop("k"),
    "pull": lambda keys: keys.pull("k", 1),
    "pull_all": lambda keys: keys.pull_all("k", [1]),
    "add_to_set": lambda keys: keys.add_to_set("k", 1),
    "array_get": lambda keys: keys.array_get("k", 0),
    "array_set": lambda keys: keys.array_set("k", 0, 1),
    "array_slice": lambda keys: keys.array_slice("k", 0, 1),
    "array_page": lambda keys: keys.array_page("k", 1, 1),
    "array_all": lambda keys: keys.array_all("k"),
    "array_len": lambda keys: keys.array_len("k"),
}


async def test_m30_push_appends_in_order_and_makes_the_list(keys: Namespace) -> None:
    assert await keys.push("k", 1, "two") == 2
    assert await keys.push("k", [3], None) == 4
    assert await keys.push("k") == 4
    assert await keys.get("k") == [1, "two", [3], None]
    assert await keys.push("empty") == 0
    assert await keys.get("empty") == []


async def test_m30_a_list_may_be_stored_whole_and_pushed_to(keys: Namespace) -> None:
    await keys.set("k", [1, {"b": 1, "a": 2}])
    assert await keys.push("k", 3) == 3
    assert await keys.get("k") == [1, {"a": 2, "b": 1}, 3]


@pytest.mark.parametrize("operation", LIST_OPERATIONS)
@pytest.mark.parametrize("value", [None, 5, "text", {"a": []}], ids=repr)
async def test_m30_no_list_operation_touches_another_kind(keys: Namespace, operation: str, value: Any) -> None:
    await keys.set("k", value)
    with pytest.raises(WrongKind, match="'k' is not a list: it holds "):
        await LIST_OPERATIONS[operation](keys)
    assert await keys.get("k") == value


async def test_m31_writing_to_a_list_keeps_its_time_and_a_new_one_gets_the_scopes(
    brief: Namespace, clock: Clock
) -> None:
    await brief.push("k", 1, 2, 3, 3)
    await brief.add_to_set("set", 1, ttl=60)
    clock.forward(10)
    for operation in ("push", "add_to_set", "array_set", "pull", "pop"):
        await LIST_OPERATIONS[operation](brief)
        entry = await brief.entry("k")
        assert entry is not None
        assert entry.expires_at == clock.now + (30 * 60 - 10) * SECOND
    entry = await brief.entry("set")
    assert entry is not None
    assert entry.expires_at == clock.now + 50 * SECOND


async def test_m32_pop_takes_from_either_end_and_from_nowhere_else(keys: Namespace) -> None:
    await keys.push("k", 1, 2, 3)
    assert await keys.pop("k") == 3
    assert await keys.pop("k", -1) == 1
    for position in (0, 2, 5, -2):
        with pytest.raises(InputRefused, match="cannot pop"):
            await keys.pop("k", position)
    assert await keys.pop("k", 1) == 2
    with pytest.raises(NothingThere, match="'k' is empty"):
        await keys.pop("k")
    with pytest.raises(NothingThere, match="no list 'none'"):
        await keys.pop("none")


async def test_m33_an_emptied_list_stays_a_list(keys: Namespace) -> None:
    await keys.push("k", 1)
    await keys.pop("k")
    assert await keys.has("k")
    assert await keys.get("k") == []
    assert await keys.push("k", 2) == 1


async def test_m34_pull_takes_out_all_that_are_equal(keys: Namespace) -> None:
    await keys.set("k", [1, 2, 1, "1", 1.0, True, {"a": 1, "b": 2}, 1])
    assert await keys.pull("k", 1) == 3
    assert await keys.pull("k", {"b": 2, "a": 1}) == 1
    assert await keys.get("k") == [2, "1", 1.0, True]
    assert await keys.pull("none", 1) == 0
    assert not await keys.has("none")


async def test_m35_pull_all_takes_out_several_values(keys: Namespace) -> None:
    await keys.set("k", [1, 2, 3, 2, 1, None])
    assert await keys.pull_all("k", [1, None, 9]) == 3
    assert await keys.get("k") == [2, 3, 2]
    assert await keys.pull_all("none", [1]) == 0


async def test_m36_add_to_set_keeps_the_order_and_drops_what_is_there_already(keys: Namespace) -> None:
    assert await keys.add_to_set("k", "b", "a", "b", {"x": 1, "y": 2}) == 3
    assert await keys.add_to_set("k", "a", {"y": 2, "x": 1}, "c", 1, 1.0, True) == 4
    assert await keys.get("k") == ["b", "a", {"x": 1, "y": 2}, "c", 1, 1.0, True]
    await keys.set("twice", [1, 1])
    assert await keys.add_to_set("twice", 1) == 0
    assert await keys.get("twice") == [1, 1]
    assert await keys.add_to_set("empty") == 0
    assert await keys.get("empty") == []


async def test_m37_the_length_of_what_is_missing_is_0(keys: Namespace) -> None:
    assert await keys.array_len("k") == 0
    await keys.set("k", [1, 2])
    assert await keys.array_len("k") == 2


@pytest.mark.parametrize("index", [3, 4, -4, 2**70, -(2**70)])
async def test_m38_an_index_outside_is_refused_and_no_list_grows(keys: Namespace, index: int) -> None:
    await keys.set("k", [1, 2, 3])
    with pytest.raises(NothingThere, match=r"'k' has no item .*: it has 3"):
        await keys.array_get("k", index)
    with pytest.raises(NothingThere):
        await keys.array_set("k", index, 9)
    with pytest.raises(NothingThere):
        await keys.array_set("none", index, 9)
    assert (await keys.snapshot()).values() == {"k": [1, 2, 3]}


async def test_m38_m39_indices_count_from_0_and_negative_ones_from_the_end(keys: Namespace) -> None:
    await keys.set("k", ["a", "b", "c", "d"])
    await keys.pop("k", -1)
    assert [await keys.array_get("k", index) for index in (0, 1, 2, -1, -2, -3)] == ["b", "c", "d", "d", "c", "b"]
    await keys.array_set("k", 0, "B")
    await keys.array_set("k", -1, {"d": None})
    assert await keys.get("k") == ["B", "c", {"d": None}]


@pytest.mark.parametrize(
    ("skip", "limit", "found"),
    [
        *((0, 2, [0, 1]), (1, 9, [1, 2, 3]), (-5, 2, [0, 1]), (4, 1, []), (9, 9, []), (0, 0, []), (0, -1, [])),
        *((2, 1, [2]), (2**70, 1, []), (0, 2**70, [0, 1, 2, 3])),
    ],
)
async def test_m40_a_slice_never_fails(keys: Namespace, skip: int, limit: int, found: list[int]) -> None:
    await keys.set("k", [0, 1, 2, 3])
    assert await keys.array_slice("k", skip, limit) == found
    assert await keys.array_slice("none", skip, limit) == []


@pytest.mark.parametrize(
    ("page", "size", "found"),
    [(1, 2, [0, 1]), (2, 2, [2, 3]), (3, 2, [4]), (4, 2, []), (0, 2, [0, 1]), (-7, 2, [0, 1]), (1, 0, []), (2, -3, [])],
)
async def test_m41_pages_count_from_1_and_never_fail(keys: Namespace, page: int, size: int, found: list[int]) -> None:
    await keys.set("k", [0, 1, 2, 3, 4])
    assert await keys.array_page("k", page, size) == found


async def test_m42_what_was_read_is_a_copy(keys: Namespace) -> None:
    await keys.set("k", [[1]])
    copy = await keys.array_all("k")
    copy[0].append(2)
    copy.append(3)
    assert await keys.array_all("k") == [[1]]
    assert await keys.array_all("none") == []


async def test_a_list_that_would_grow_too_large_is_refused_and_stays(keys: Namespace) -> None:
    item = "x" * 4_000_000
    await keys.push("k", item, item, item)
    with pytest.raises(InputRefused, match="the list is too large"):
        await keys.push("k", item, item)
    assert await keys.array_len("k") == 3
    entry = await keys.entry("k")
    assert entry is not None
    assert entry.size < LIST_LIMIT


ITEMS = st.sampled_from([0, 1, 1.0, "a", None, [1], {"a": 1}])
ACTIONS = st.one_of(
    st.tuples(st.just("push"), st.lists(ITEMS, max_size=4)),
    st.tuples(st.just("pop"), st.sampled_from([1, -1])),
    st.tuples(st.just("pull"), ITEMS),
    st.tuples(st.just("add"), st.lists(ITEMS, max_size=3)),
    st.tuples(st.just("put"), st.tuples(st.integers(-4, 4), ITEMS)),
)


def text(value: Any) -> str:
    return f"{type(value).__name__}{value}"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTIONS, max_size=25))
async def test_a_list_behaves_as_one_in_memory_whatever_is_done_to_it(keys: Namespace, actions: list[Any]) -> None:
    await keys.set("k", [])
    model: list[Any] = []
    for action, argument in actions:
        if action == "push":
            assert await keys.push("k", *argument) == len(model) + len(argument)
            model += argument
        elif action == "pop" and model:
            assert await keys.pop("k", argument) == model.pop(-1 if argument == 1 else 0)
        elif action == "pull":
            await keys.pull("k", argument)
            model = [value for value in model if text(value) != text(argument)]
        elif action == "add":
            await keys.add_to_set("k", *argument)
            for value in argument:
                if text(value) not in map(text, model):
                    model.append(value)
        elif action == "put" and -len(model) <= argument[0] < len(model):
            await keys.array_set("k", *argument)
            model[argument[0]] = argument[1]
    assert list(map(text, await keys.array_all("k"))) == list(map(text, model))
    entry = await keys.entry("k")
    assert entry is not None
    assert entry.length == len(model)
    await keys.set("copy", model)
    copy = await keys.entry("copy")
    assert copy is not None
    assert abs(entry.size - copy.size) <= 1
