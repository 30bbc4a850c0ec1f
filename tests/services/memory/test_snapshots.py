"""Whole namespaces: copied, put back, read out page by page and taken in again."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.errors import InputRefused
from services.memory import Kept, Memory, Namespace, Scope, ScopeKind, Snapshot
from tests.services.memory.conftest import SECOND, Clock, Keys

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.text()).filter(
        lambda value: value not in (float("inf"), -float("inf"))
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=8,
)
VALUES = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5), JSON, max_size=6)


async def test_a_snapshot_holds_values_kinds_and_the_time_left_and_is_immune_to_changes(
    brief: Namespace, clock: Clock
) -> None:
    await brief.set("deep", {"a": [1]}, "never")
    await brief.push("list", 1, 2)
    clock.forward(60)
    snapshot = await brief.snapshot()
    await brief.push("list", 3)
    await brief.pop("list", -1)
    await brief.set("deep", None)
    assert snapshot.values() == {"deep": {"a": [1]}, "list": [1, 2]}
    assert [entry.remaining for entry in snapshot.entries] == [None, 29 * 60 * SECOND]
    snapshot.values()["list"].append(9)
    assert snapshot.values()["list"] == [1, 2]


async def test_restoring_replaces_everything_and_gives_back_the_time_that_was_left(
    of: Keys, brief: Namespace, clock: Clock
) -> None:
    await brief.push("list", 1)
    await brief.set("counter", 5, "never")
    clock.forward(60)
    snapshot = await brief.snapshot()
    clock.forward(7 * 86_400)
    other = of("context:other")
    await other.set("gone", 1)
    assert await other.restore(snapshot) == 2
    assert await other.push("list", 2) == 2
    assert await other.incr("counter") == 6
    assert await other.keys() == ["counter", "list"]
    entry = await other.entry("list")
    assert entry is not None
    assert entry.expires_at == clock.now + 29 * 60 * SECOND
    assert await brief.keys() == ["counter"]


@pytest.mark.parametrize(
    "entry",
    [
        Kept("", msgspec.Raw(b"1")),
        Kept("k", msgspec.Raw(b"NaN")),
        Kept("k", msgspec.Raw(b"")),
        Kept("k", msgspec.Raw(b"9223372036854775808")),
        Kept("k", msgspec.Raw(b"[" * 70 + b"]" * 70)),
        Kept("k", msgspec.Raw(b"[" * 100_000)),
        Kept("k", msgspec.Raw(b'"\xff"')),
        Kept("k", msgspec.Raw(b"1"), -1),
        Kept("k", msgspec.Raw(b"1"), 2**70),
    ],
    ids=["key", "nan", "nothing", "integer", "deep", "recursion", "bytes", "past", "far"],
)
async def test_a_damaged_snapshot_is_refused_and_changes_nothing(keys: Namespace, entry: Kept) -> None:
    await keys.set("before", 1)
    with pytest.raises(InputRefused):
        await keys.restore(Snapshot(ScopeKind.USER, "42", 0, (Kept("fine", msgspec.Raw(b"1")), entry)))
    with pytest.raises(InputRefused):
        await keys.take_in([Kept("fine", msgspec.Raw(b"1")), entry])
    assert (await keys.snapshot()).values() == {"before": 1}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
async def test_what_is_read_out_and_taken_in_is_the_same_again(memory: Memory, values: dict[str, object]) -> None:
    here, there = (memory.namespace(Scope(ScopeKind.USER, name)) for name in ("here", "there"))
    await here.clear()
    await there.clear()
    await here.set_many(values)
    async for page in here.read_out():
        await there.take_in(page)
    assert (await there.snapshot()).entries == (await here.snapshot()).entries
    assert repr((await there.snapshot()).values()) == repr((await here.snapshot()).values())
    written = msgspec.json.decode(msgspec.json.encode(await here.snapshot()), type=Snapshot)
    assert await there.restore(written) == len(values)
    assert (await there.snapshot()).values() == values


async def test_large_values_are_read_out_a_few_at_a_time(keys: Namespace) -> None:
    await keys.set_many({f"k{number:02}": "x" * 100_000 for number in range(12)})
    await keys.set("last", 1)
    pages = [[entry.key for entry in page] async for page in keys.read_out()]
    assert [key for page in pages for key in page] == await keys.keys()
    assert max(map(len, pages)) <= 4
