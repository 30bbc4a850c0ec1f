"""What is known to go wrong elsewhere and must not here, by the number of the wart."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from services.errors import DatabaseError, InputRefused, NothingThere
from services.home import BlockingCalls, Database, Home
from services.memory import MISSING, Memory, Namespace, Scope
from tests.services.memory.conftest import Clock, Keys


async def test_w02_a_colon_parts_nothing(of: Keys) -> None:
    await of("user:a").set("b:c", 1)
    await of("user:a:b").set("c", 2)
    assert await of("user:a").get("b:c") == 1
    assert await of("user:a:b").get("c") == 2


async def test_w03_no_key_is_cut_by_the_length_of_a_prefix(of: Keys) -> None:
    await of("user:12345").set("k", 1)
    await of("user:1").set_many({"user:1:k": 2, "2345:k": 3})
    assert await of("user:1").keys() == ["2345:k", "user:1:k"]
    assert (await of("user:12345").snapshot()).values() == {"k": 1}


async def test_w04_a_thousand_scopes_leave_nothing_behind_in_memory(memory: Memory) -> None:
    for number in range(1000):
        await memory.namespace(Scope.parse(f"context:{number}")).get("k")
    gc.collect()
    assert sum(isinstance(thing, Namespace) for thing in gc.get_objects()) < 10


async def test_w05_first_users_of_a_scope_at_once_all_write(of: Keys) -> None:
    await asyncio.gather(*(of("user:new").incr("n") for _ in range(50)))
    assert await of("user:new").get("n") == 50


async def test_w06_a_fork_that_fails_shares_nothing(memory: Memory) -> None:
    with pytest.raises(NothingThere):
        await memory.contexts.fork("gone")


async def test_w07_forks_leak_neither_lists_nor_counters(memory: Memory, database: Database) -> None:
    context = await memory.contexts.open()
    fork = memory.namespace((await memory.contexts.fork(context.id)).scope)
    await fork.push("list", 1)
    await fork.incr("counter")
    await memory.contexts.release(context.id)
    for table in ("scoped_values", "list_items", "contexts"):
        query = f"SELECT count(*) FROM {table}"
        assert await database.read(lambda connection, query=query: connection.execute(query).fetchone()) == (0,)  # type: ignore[misc]


async def test_w08_clearing_one_scope_leaves_the_user_and_the_team(memory: Memory) -> None:
    around = memory.scopes.surroundings(user="1", team="1", chat="1", context="1")
    for kind in ("user", "team", "chat", "context"):
        await _there(around.of(kind)).set("k", 1)
    await _there(around.of("context")).clear()
    assert [await _there(around.of(kind)).count() for kind in ("user", "team", "chat", "context")] == [1, 1, 1, 0]


async def test_w09_a_negative_time_is_refused(brief: Namespace) -> None:
    for operation in (brief.set("k", 1, -1), brief.incr("k", ttl=-1), brief.push("k", 1, ttl="-1s")):
        with pytest.raises(InputRefused):
            await operation
    assert await brief.count() == 0


async def test_w10_what_cannot_be_kept_fails_at_once_and_a_long_key_is_kept(keys: Namespace) -> None:
    with pytest.raises(InputRefused):
        await keys.set("k", {"when": object()})
    await keys.set("x" * 10_000, 1)
    assert await keys.keys() == ["x" * 10_000]


async def test_w11_deleting_a_key_with_a_star_deletes_that_key(keys: Namespace) -> None:
    await keys.set_many({"a*": 1, "ab": 2})
    await keys.delete_many(["a*"])
    assert await keys.keys() == ["ab"]


async def test_w12_what_many_initialisers_made_is_stored(keys: Namespace) -> None:
    await keys.get_or_set_many(["a", "b"], lambda key: key * 2)
    assert await keys.get_many(["a", "b"]) == {"a": "aa", "b": "bb"}


async def test_w13_counters_and_lists_expire(brief: Namespace, clock: Clock) -> None:
    await brief.incr("counter")
    await brief.push("list", 1)
    await brief.set("value", 1, ttl=3000)
    await brief.incr("value")
    clock.forward(1800)
    assert await brief.keys() == ["value"]
    clock.forward(1200)
    assert await brief.keys() == []


async def test_w14_counting_begins_anew_after_expiry(keys: Namespace, clock: Clock) -> None:
    await keys.incr("n", 41, ttl=5)
    clock.forward(5)
    assert await keys.incr("n") == 1


@pytest.mark.parametrize("size", [-1, -(2**40), 2**80])
async def test_w15_no_size_of_a_page_is_a_crash(keys: Namespace, size: int) -> None:
    await keys.push("k", 1, 2)
    assert await keys.array_slice("k", 0, size) == ([1, 2] if size > 0 else [])
    assert await keys.array_page("k", 1, size) == ([1, 2] if size > 0 else [])


async def test_w16_a_snapshot_has_the_lists(keys: Namespace) -> None:
    await keys.push("list", 1)
    assert (await keys.snapshot()).values() == {"list": [1]}


async def test_w17_pop_and_push_leave_a_snapshot_alone(keys: Namespace) -> None:
    await keys.push("list", 1, 2)
    snapshot = await keys.snapshot()
    await keys.pop("list")
    await keys.push("list", 3)
    assert snapshot.values() == {"list": [1, 2]}


async def test_w18_a_pattern_means_the_same_for_what_was_just_written_and_what_was_there(
    home: Home, keys: Namespace, calls: BlockingCalls
) -> None:
    await keys.set_many({"a_b": 1, "axb": 2, "xb": 3})
    async with Database(home.database_file) as database:
        there = Memory(home, database, calls).namespace(keys.scope)
        assert await there.keys("a*b") == await keys.keys("a*b") == ["a_b", "axb"]
        assert await keys.delete_matching("*xb") == 2
        assert await there.keys() == ["a_b"]


async def test_w19_no_wildcard_of_sql_reaches_another_user(of: Keys) -> None:
    for user in ("user_1", "userX1", "USER_1", "user%", "%"):
        await of(f"user:{user}").set("k", user)
    await of("user:user_1").clear()
    await of("user:%").delete_matching("*")
    found = [await of(f"user:{user}").keys() for user in ("user_1", "userX1", "USER_1", "user%", "%")]
    assert found == [[], ["k"], ["k"], ["k"], []]


async def test_w20_keys_and_count_agree_about_what_has_expired(keys: Namespace, clock: Clock) -> None:
    await keys.set("k", 1)
    await keys.set("k", 2, ttl=5)
    clock.forward(5)
    assert (await keys.keys(), await keys.count()) == ([], 0)


async def test_w21_every_home_has_its_own_keys(home: Home, keys: Namespace, calls: BlockingCalls) -> None:
    await keys.set("k", 1)
    other = Home(home.root.with_name("other"))
    async with Database(other.database_file) as database:
        assert await Memory(other, database, calls).namespace(keys.scope).get("k") is MISSING


async def test_w22_what_was_acknowledged_is_on_disk(home: Home, keys: Namespace, calls: BlockingCalls) -> None:
    """Beside the test that kills: nothing is held back until some later flush."""
    await keys.set("k", 1)
    async with Database(home.database_file) as database:
        assert await Memory(home, database, calls).namespace(keys.scope).get("k") == 1


async def test_w23_more_keys_than_any_cache_would_hold_are_all_there_and_count_on(keys: Namespace) -> None:
    await keys.set_many({f"k{number}": number for number in range(12_000)})
    assert await keys.count() == 12_000
    assert await keys.incr("k0", 5) == 5
    assert await keys.incr("k11999") == 12_000


async def test_w24_a_deleted_key_never_comes_back(keys: Namespace) -> None:
    async def write_and_delete(number: int) -> set[Any]:
        key = f"k{number}"
        await keys.set(key, number)
        await keys.delete(key)
        return {await keys.get(key) for _ in range(5)}

    assert set().union(*await asyncio.gather(*map(write_and_delete, range(30)))) == {MISSING}


async def test_w25_two_on_one_database_see_each_others_writes(
    home: Home, keys: Namespace, calls: BlockingCalls
) -> None:
    async with Database(home.database_file) as database:
        there = Memory(home, database, calls).namespace(keys.scope)
        for number in range(1, 20, 2):
            assert await keys.incr("n") == number
            assert await there.incr("n") == number + 1


@pytest.mark.parametrize("text", ["'; DROP TABLE scoped_values; --", '" OR 1=1', "a' || key || '", "\0'"])
async def test_w26_no_text_is_ever_part_of_a_statement(of: Keys, text: str) -> None:
    await of("user:other").set("k", 1)
    hostile = of(f"user:{text}")
    await hostile.set(text, text)
    await hostile.push(f"list {text}", text)
    assert await hostile.keys(f"*{text}*") == sorted([text, f"list {text}"])
    assert await hostile.get(text) == text
    assert await hostile.pull(f"list {text}", text) == 1
    assert await hostile.clear() == 2
    assert await of("user:other").get("k") == 1


async def test_w01_a_store_that_fails_says_so(memory: Memory, database: Database) -> None:
    await database.close()
    with pytest.raises(DatabaseError, match="closed"):
        await memory.namespace(Scope.parse("user:1")).get("k")


def _there(namespace: Namespace | None) -> Namespace:
    assert namespace is not None
    return namespace
