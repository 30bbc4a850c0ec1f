"""Single keys and many: stored, read, counted, deleted, and gone when their time is up. Rows M06-M29, M45, M46."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from services.errors import InputRefused, WrongKind
from services.memory import DEPTH_LIMIT, MISSING, VALUE_LIMIT, Kept, Namespace
from tests.services.memory.conftest import SECOND, Clock, Keys

MINUTES = 60.0
HOURS = 3600.0


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)


async def remaining(namespace: Namespace, key: str, clock: Clock) -> float | None:
    entry = await namespace.entry(key)
    assert entry is not None
    return None if entry.expires_at is None else (entry.expires_at - clock.now) / SECOND


class TestSingleKeys:
    @pytest.mark.parametrize(
        "value",
        [
            *(None, True, False, 0, -1, 2**63 - 1, -(2**63), 0.5, 1.0, 1e300, "", "text\0\n", "日本語 👩‍🚀", [], {}),
            *([1, [2.0, None]], {"b": {"a": [True]}, "": 0}, nested(DEPTH_LIMIT), "x" * (VALUE_LIMIT - 2)),
        ],
        ids=lambda value: repr(value)[:20],
    )
    async def test_m09_m45_a_value_comes_back_as_it_was_with_the_type_it_had(self, keys: Namespace, value: Any) -> None:
        await keys.set("k", value)
        found = await keys.get("k")
        assert found == value
        assert repr(found) == repr(value) or isinstance(value, dict)
        assert type(found) is type(value)

    async def test_m09_a_stored_null_is_not_missing(self, keys: Namespace) -> None:
        assert await keys.get("k") is MISSING
        await keys.set("k", None)
        assert await keys.get("k") is None
        assert repr(MISSING) == "MISSING"

    async def test_m12_has_tells_what_is_there(self, keys: Namespace) -> None:
        assert await keys.has("k") is False
        await keys.set("k", None)
        assert await keys.has("k") is True

    async def test_m13_deleting_twice_is_no_error_and_a_star_in_a_key_means_nothing(self, keys: Namespace) -> None:
        await keys.set_many({"a*": 1, "ab": 2, "a": 3})
        assert await keys.delete("a*") is True
        assert await keys.delete("a*") is False
        assert await keys.keys() == ["a", "ab"]

    @pytest.mark.parametrize(
        ("value", "why"),
        [
            (float("nan"), "not JSON"),
            ([1, float("inf")], "not JSON"),
            ({"a": -float("inf")}, "not JSON"),
            ((1, 2), "not JSON"),
            ({1, 2}, "not JSON"),
            (b"bytes", "not JSON"),
            ({1: 2}, "not JSON"),
            (object(), "not JSON"),
            ("\ud800", "not JSON"),
            (2**63, "64 bits"),
            ([-(2**63) - 1], "64 bits"),
            ({"a": 10**40}, "64 bits"),
            (HOLDS_ITSELF, "nested too deeply"),
            (nested(DEPTH_LIMIT + 1), f"more than {DEPTH_LIMIT}"),
            ("x" * VALUE_LIMIT, "too large"),
            ("x" * 100_000_000, "too large"),
            ({"a": "x" * VALUE_LIMIT}, "too large"),
            (["x" * 1_000_000] * 17, "too large"),
        ],
        ids=lambda value: repr(value)[:20] if len(repr(value)) < 10_000 else "large",
    )
    async def test_m46_what_cannot_be_kept_is_refused_at_once_and_changes_nothing(
        self, keys: Namespace, value: Any, why: str
    ) -> None:
        await keys.set("k", "before")
        with pytest.raises(InputRefused, match=why):
            await keys.set("k", value)
        with pytest.raises(InputRefused, match=why):
            await keys.set_many({"other": 1, "k": value})
        with pytest.raises(InputRefused, match=why):
            await keys.push("list", value)
        assert (await keys.snapshot()).values() == {"k": "before"}

    @pytest.mark.parametrize("text", ['"12345678901234567890"', "0.12345678901234567890", "1e20", '["[[\\"]{"]'])
    async def test_m46_digits_and_brackets_are_counted_only_where_they_are_numbers_and_nesting(
        self, keys: Namespace, text: str
    ) -> None:
        await keys.set("k", json.loads(text))
        assert await keys.get("k") == json.loads(text)

    @pytest.mark.parametrize("key", ["", "\ud800", "x" * 65_537, "ä" * 40_000, 5], ids=lambda key: repr(key)[:12])
    async def test_m46_a_key_that_cannot_be_kept_is_refused(self, keys: Namespace, key: Any) -> None:
        for operation in (keys.set(key, 1), keys.get(key), keys.delete(key), keys.incr(key), keys.push(key, 1)):
            with pytest.raises(InputRefused, match="key"):
                await operation

    async def test_objects_are_equal_whatever_the_order_of_their_names(self, keys: Namespace) -> None:
        await keys.set("k", {"b": 1, "a": 2})
        (entry,) = await keys.entries()
        assert entry.preview == '{"a":2,"b":1}'
        assert entry.kind == "object"


class TestManyKeys:
    async def test_m14_delete_matching_takes_a_star_anywhere_and_counts(self, of: Keys) -> None:
        names = ["ab", "axb", "axxb", "a.b", "A*B", "b", "abc"]
        for scope in ("user:1", "user:2"):
            await of(scope).set_many(dict.fromkeys(names, 1))
        assert await of("user:1").delete_matching("a*b") == 4
        assert await of("user:1").keys() == ["A*B", "abc", "b"]
        assert await of("user:1").delete_matching("*b*") == 2
        assert await of("user:2").count() == len(names)
        with pytest.raises(InputRefused, match="empty"):
            await of("user:2").delete_matching("")

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("", ["A", "a", "a%", "a*b", "a_", "a_b", "ab", "b\nc", "zß"]),
            ("*", ["A", "a", "a%", "a*b", "a_", "a_b", "ab", "b\nc", "zß"]),
            ("a", ["a"]),
            ("a*", ["a", "a%", "a*b", "a_", "a_b", "ab"]),
            ("a_", ["a_"]),
            ("a_*", ["a_", "a_b"]),
            ("a%*", ["a%"]),
            ("*b", ["a*b", "a_b", "ab"]),
            ("a*b", ["a*b", "a_b", "ab"]),
            ("b*c", ["b\nc"]),
            ("a**b", ["a*b", "a_b", "ab"]),
            ("[a]*", []),
            ("?", []),
            ("aa*a", []),
            ("none", []),
        ],
    )
    async def test_m15_m16_keys_are_sorted_and_counted_by_one_matcher(
        self, keys: Namespace, pattern: str, found: list[str]
    ) -> None:
        await keys.set_many(dict.fromkeys(["ab", "a", "zß", "A", "a_b", "a*b", "a%", "a_", "b\nc"], 0))
        assert await keys.keys(pattern) == found
        assert await keys.count(pattern) == len(found)
        assert [entry.key for entry in await keys.entries(pattern)] == found
        assert await keys.keys(pattern, after="a_", limit=2) == [key for key in found if key > "a_"][:2]

    async def test_m15_a_page_follows_the_key_before_it(self, keys: Namespace) -> None:
        await keys.set_many({f"k{number:03}": number for number in range(25)})
        pages, after = [], ""
        while page := await keys.entries("k*", after=after, limit=10):
            pages.append([entry.key for entry in page])
            after = page[-1].key
        assert [len(page) for page in pages] == [10, 10, 5]
        assert [key for page in pages for key in page] == await keys.keys()

    async def test_m19_an_initialiser_runs_only_on_a_miss_and_its_error_stores_nothing(self, keys: Namespace) -> None:
        def fail(_: str) -> Any:
            raise LookupError("no")

        with pytest.raises(LookupError):
            await keys.get_or_set("k", fail)
        assert not await keys.has("k")
        await keys.set("k", None)
        assert await keys.get_or_set("k", fail) is None

    async def test_m20_callers_at_once_store_one_value_and_all_get_it(self, keys: Namespace) -> None:
        made: list[int] = []
        together = asyncio.Barrier(20)

        async def make(_: str) -> int:
            made.append(len(made))
            number = made[-1]
            await together.wait()
            return number

        found = await asyncio.gather(*(keys.get_or_set("k", make) for _ in range(20)))
        assert len(made) == 20
        assert len(set(found)) == 1
        assert await keys.get("k") == found[0]

    async def test_m21_an_initialiser_gets_the_plain_key(self, keys: Namespace) -> None:
        assert await keys.get_or_set("a:b", lambda key: key) == "a:b"
        assert (await keys.get_or_set_many(["a:b", "c"], lambda key: key)).values == {"a:b": "a:b", "c": "c"}

    async def test_m22_of_many_callers_one_takes_a_value_out(self, keys: Namespace) -> None:
        await keys.set("k", [1])
        found = await asyncio.gather(*(keys.get_delete("k") for _ in range(20)))
        assert found.count(MISSING) == 19
        assert [value for value in found if value is not MISSING] == [[1]]
        assert await keys.get("k") is MISSING

    async def test_m23_get_many_tells_of_every_key_asked_for(self, keys: Namespace) -> None:
        await keys.set_many({"a": None, "b": [1]})
        assert await keys.get_many(["a", "b", "c"]) == {"a": None, "b": [1], "c": MISSING}
        assert await keys.get_many([]) == {}

    async def test_m24_set_many_gives_all_the_same_time_and_stores_all_or_nothing(
        self, brief: Namespace, clock: Clock
    ) -> None:
        await brief.set_many({"a": 1, "b": [2]}, ttl=60)
        assert [await remaining(brief, key, clock) for key in "ab"] == [60.0, 60.0]
        with pytest.raises(InputRefused):
            await brief.set_many({"a": 5, "c": float("nan")})
        with pytest.raises(InputRefused):
            await brief.take_in([Kept("a", b"5"), Kept("b", b"no JSON")])  # type: ignore[arg-type]
        assert (await brief.snapshot()).values() == {"a": 1, "b": [2]}

    async def test_m25_delete_many_counts_what_was_there(self, keys: Namespace) -> None:
        await keys.set_many({"a": 1, "b": [1], "c": 2, "*": 3})
        assert await keys.delete_many(["a", "b", "x", "*"]) == 3
        assert await keys.keys() == ["c"]

    async def test_m26_get_or_set_many_stores_what_was_made_and_reports_what_was_not(self, keys: Namespace) -> None:
        await keys.set("a", 1)

        def make(key: str) -> Any:
            if key == "b":
                raise LookupError("no b")
            return float("nan") if key == "c" else key

        filled = await keys.get_or_set_many(["a", "b", "c", "d"], make, ttl=60)
        assert filled.values == {"a": 1, "d": "d"}
        assert {key: type(error) for key, error in filled.errors.items()} == {"b": LookupError, "c": InputRefused}
        assert (await keys.snapshot()).values() == {"a": 1, "d": "d"}

    async def test_m26_what_somebody_stored_meanwhile_wins(self, keys: Namespace) -> None:
        async def make(key: str) -> str:
            await keys.set("a", ["faster"])
            return key

        assert (await keys.get_or_set_many(["a", "b"], make)).values == {"a": ["faster"], "b": "b"}


class TestCounters:
    async def test_m27_a_counter_starts_at_nothing_and_goes_both_ways(self, keys: Namespace) -> None:
        assert await keys.incr("n") == 1
        assert await keys.incr("n", 41) == 42
        assert await keys.decr("n", 50) == -8
        assert await keys.decr("new") == -1
        assert await keys.incr("other", -3) == -3
        assert await keys.get("n") == -8

    @pytest.mark.parametrize("value", [None, True, 1.0, "1", [1], {}], ids=repr)
    async def test_m28_what_is_no_integer_is_not_counted_up(self, keys: Namespace, value: Any) -> None:
        await keys.set("k", value)
        with pytest.raises(WrongKind, match="'k' is not an integer: it holds "):
            await keys.incr("k")
        assert await keys.get("k") == value

    async def test_m28_a_sum_beyond_64_bits_is_refused_and_changes_nothing(self, keys: Namespace) -> None:
        await keys.set("k", 2**63 - 2)
        assert await keys.incr("k") == 2**63 - 1
        for delta in (1, 2**70):
            with pytest.raises(InputRefused, match="64 bits"):
                await keys.incr("k", delta)
        assert await keys.get("k") == 2**63 - 1
        with pytest.raises(InputRefused, match="64 bits"):
            await keys.decr("new", 2**63 + 1)
        with pytest.raises(InputRefused, match="not an integer"):
            await keys.incr("new", 1.5)  # type: ignore[arg-type]
        assert not await keys.has("new")

    async def test_m29_a_counter_keeps_its_time_and_a_new_one_gets_the_scopes(
        self, brief: Namespace, clock: Clock
    ) -> None:
        await brief.incr("n")
        clock.forward(10 * MINUTES)
        await brief.incr("n", ttl=5)
        assert await remaining(brief, "n", clock) == 20 * MINUTES
        clock.forward(20 * MINUTES)
        assert await brief.incr("n", ttl=5) == 1
        assert await remaining(brief, "n", clock) == 5
