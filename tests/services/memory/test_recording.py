"""Changes that are taken back with value and time, unless somebody changed the key since; and keys that move."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from services.errors import ChangedMeanwhile, InputRefused
from services.memory import MISSING, Change, Memory, Namespace, Recorded, Scope
from tests.services.memory.conftest import Clock, Keys

HERE = Scope.parse("user:42")
THERE = Scope.parse("chat:7")

CHANGES: dict[str, Callable[[Recorded], Awaitable[Any]]] = {
    "set": lambda keys: keys.set("text", 2),
    "set anew": lambda keys: keys.set("new", 2),
    "rewrite": lambda keys: keys.rewrite("text", 2, "old"),
    "delete": lambda keys: keys.delete("list"),
    "delete many": lambda keys: keys.delete_many(["text", "list"]),
    "delete matching": lambda keys: keys.delete_matching("*t*"),
    "clear": lambda keys: keys.clear(),
    "expire": lambda keys: keys.expire("text", "never"),
    "incr": lambda keys: keys.incr("count", 5),
    "push": lambda keys: keys.push("list", "c"),
    "pop": lambda keys: keys.pop("list", -1),
    "pull": lambda keys: keys.pull("list", "a"),
    "add to set": lambda keys: keys.add_to_set("list", "a", "z"),
    "array set": lambda keys: keys.array_set("list", 0, "z"),
    "get delete": lambda keys: keys.get_delete("text"),
    "get or set": lambda keys: keys.get_or_set("new", lambda _: 1),
}


async def fill(keys: Namespace) -> None:
    await keys.set("text", "old", ttl=600)
    await keys.set("list", ["a", "b"], ttl=600)
    await keys.set("count", 1)


async def state(keys: Namespace) -> Any:
    return [(entry.key, entry.preview, entry.expires_at) for entry in await keys.entries()]


@pytest.mark.parametrize("watched", ["", ["text", "list", "count", "new"]], ids=["by pattern", "by key"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_every_change_is_taken_back_with_value_and_time(
    memory: Memory, keys: Namespace, clock: Clock, change, watched
) -> None:
    await fill(keys)
    before = await state(keys)
    recorded = memory.scopes.recorded(HERE, watched)
    await change(recorded)
    assert await state(keys) != before
    assert recorded.change is not None
    clock.forward(60)
    assert await memory.scopes.take_back(recorded.change) == len(recorded.change.keys)
    assert await state(keys) == before


async def changed(memory: Memory, keys: Namespace) -> Change:
    await fill(keys)
    recorded = memory.scopes.recorded(HERE, ["text", "count"])
    await recorded.set_many({"text": "new", "count": 2})
    assert recorded.change is not None
    return recorded.change


async def test_nothing_is_taken_back_over_somebody_elses_change_unless_told_to(memory: Memory, keys: Namespace) -> None:
    change = await changed(memory, keys)
    await keys.set("count", 3)
    with pytest.raises(ChangedMeanwhile, match="count"):
        await memory.scopes.take_back(change)
    assert await keys.get_many(["text", "count"]) == {"text": "new", "count": 3}
    assert await memory.scopes.take_back(change, anyway=True) == 2
    assert await keys.get_many(["text", "count"]) == {"text": "old", "count": 1}


async def test_what_would_have_expired_meanwhile_stays_gone(memory: Memory, keys: Namespace, clock: Clock) -> None:
    await fill(keys)
    recorded = memory.scopes.recorded(HERE, ["text"])
    await recorded.delete("text")
    assert recorded.change is not None
    clock.forward(601)
    await memory.scopes.take_back(recorded.change)
    assert not await keys.has("text")


async def test_a_change_too_large_to_keep_is_made_and_not_recorded(memory: Memory, keys: Namespace) -> None:
    for number in range(5):
        await keys.set(str(number), "x" * ((4 << 20) - 2))
    recorded = memory.scopes.recorded(HERE, "")
    assert await recorded.clear() == 5
    assert recorded.change is None


class TestRewriting:
    async def test_a_value_is_written_over_the_one_seen_and_keeps_its_time(self, keys: Namespace) -> None:
        await keys.set("a", {"x": 1}, ttl=600)
        before = await keys.entry("a")
        await keys.rewrite("a", {"x": 2}, {"x": 1})
        after = await keys.entry("a")
        assert before is not None
        assert after is not None
        assert (after.preview, after.expires_at) == ('{"x":2}', before.expires_at)

    @pytest.mark.parametrize("seen", [MISSING, 1.0, True, "1", [1]], ids=repr)
    async def test_nothing_is_written_over_anything_else(self, keys: Namespace, seen) -> None:
        await keys.set("a", 1)
        with pytest.raises(ChangedMeanwhile):
            await keys.rewrite("a", 2, seen)
        assert await keys.get("a") == 1

    async def test_a_key_that_is_to_be_new_must_be(self, keys: Namespace) -> None:
        await keys.rewrite("a", None, MISSING)
        with pytest.raises(ChangedMeanwhile):
            await keys.rewrite("a", 1, MISSING)


class TestMoving:
    async def test_keys_move_with_their_time_and_clashing_ones_stay(self, memory: Memory, of: Keys) -> None:
        here, there = of(str(HERE)), of(str(THERE))
        await fill(here)
        await there.set("count", 9)
        wanted = ["text", "list", "count", "nothing"]
        dry = await memory.scopes.move(HERE, THERE, wanted, dry_run=True)
        assert (dry.moved, dry.clashing, dry.gone) == (("text", "list"), ("count",), ("nothing",))
        assert await here.count() == 3
        before = await here.entry("text")
        done = await memory.scopes.move(HERE, THERE, wanted)
        assert (await here.keys(), await there.keys()) == (["count"], ["count", "list", "text"])
        after = await there.entry("text")
        assert before is not None
        assert after is not None
        assert after.expires_at == before.expires_at
        for change in reversed(done.changes):
            await memory.scopes.take_back(change)
        assert (await here.keys(), await there.keys()) == (["count", "list", "text"], ["count"])

    async def test_keys_replace_when_told_to_and_come_back(self, memory: Memory, of: Keys) -> None:
        here, there = of(str(HERE)), of(str(THERE))
        await here.set("a", 1)
        await there.set("a", 2)
        done = await memory.scopes.move(HERE, THERE, ["a"], replace=True)
        assert await there.get("a") == 1
        for change in reversed(done.changes):
            await memory.scopes.take_back(change)
        assert (await here.get("a"), await there.get("a")) == (1, 2)

    async def test_a_scope_is_no_target_of_its_own(self, memory: Memory) -> None:
        with pytest.raises(InputRefused):
            await memory.scopes.move(HERE, HERE, ["a"])
