"""The scopes: four kinds, their ids, and that none sees another's keys. Rows M01-M05, M17, M43, M50-M52."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from services.errors import InputRefused
from services.home import BlockingCalls, Database, Home
from services.memory import MISSING, Memory, Scope, ScopeKind, Stats
from tests.services.memory.conftest import Clock, Keys

HOSTILE = [":", "*", "_", "%", "[", "?", "\n", "\0", "a", "A", "ä", "\U0010ffff", "'", '"', "-", ";"]
NAMES = st.one_of(
    st.text(st.sampled_from(HOSTILE), min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(["x" * 10_000, "X" * 10_000, "x" * 9_999 + "*", "user:1", "user_1", "userX1", "USER_1"]),
)
SCOPES = st.builds(Scope, st.sampled_from(ScopeKind), NAMES)
WRITES = st.lists(st.tuples(SCOPES, NAMES, st.integers(0, 9)), min_size=1, max_size=12)
HYPOTHESIS = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])


class TestKinds:
    async def test_m01_there_are_four_and_no_other(self, memory: Memory) -> None:
        around = memory.scopes.surroundings(user="1", team="2", chat="3", context="4")
        assert [str(kind) for kind in ScopeKind] == ["user", "team", "chat", "context"]
        for kind, scope_id in zip(ScopeKind, "1234", strict=True):
            namespace = around.of(kind)
            assert namespace is not None
            assert namespace.scope == Scope(kind, scope_id)
        assert around.of("project") is None

    def test_m02_what_each_lives_by_itself(self) -> None:
        assert [kind.default_ttl for kind in ScopeKind] == [None, None, 86_400, 1_800]

    async def test_m03_a_scope_is_there_exactly_when_it_has_an_id(self, memory: Memory) -> None:
        around = memory.scopes.surroundings(user="1", chat="3")
        assert [around.of(kind) is not None for kind in ScopeKind] == [True, False, True, False]
        with pytest.raises(InputRefused, match="empty"):
            Scope(ScopeKind.USER, "")

    async def test_m04_the_prefix_is_only_shown(self, of: Keys) -> None:
        namespace = of("user:42")
        await namespace.set("user:42:k", 1)
        assert namespace.scope.prefix == "user:42:"
        assert await namespace.keys() == ["user:42:k"]
        assert not await namespace.has("k")

    @pytest.mark.parametrize("text", ["user", "", ":1", "User:1", "project:1", "user:", "\0:1"], ids=repr)
    def test_what_is_no_scope_is_refused(self, text: str) -> None:
        with pytest.raises(InputRefused):
            Scope.parse(text)

    def test_everything_behind_the_first_colon_is_the_id(self) -> None:
        assert Scope.parse("user:a:b:") == Scope(ScopeKind.USER, "a:b:")


class TestCrossing:
    @HYPOTHESIS
    @given(WRITES)
    @example([(Scope(ScopeKind.USER, "a"), "b:c", 1), (Scope(ScopeKind.USER, "a:b"), "c", 2)])
    @example([(Scope(ScopeKind.USER, "user_1"), "a", 1), (Scope(ScopeKind.USER, "userX1"), "a", 2)])
    @example([(Scope(ScopeKind.USER, "u"), "k", 1), (Scope(ScopeKind.USER, "U"), "k", 2)])
    @example([(Scope(ScopeKind.USER, "a\0b"), "k", 1), (Scope(ScopeKind.USER, "a"), "k", 2)])
    async def test_m05_no_scope_sees_anothers_keys(self, memory: Memory, writes: list[tuple[Scope, str, int]]) -> None:
        model: dict[Scope, dict[str, int]] = {}
        for scope, key, value in writes:
            await memory.namespace(scope).set(key, value)
            model.setdefault(scope, {})[key] = value
        for scope, values in model.items():
            namespace = memory.namespace(scope)
            assert (await namespace.snapshot()).values() == values
            assert await namespace.keys() == sorted(values)
            assert await namespace.get_many(values) == values
        for scope in model:
            await memory.namespace(scope).clear()

    @HYPOTHESIS
    @given(WRITES, NAMES)
    async def test_m05_m17_whatever_is_deleted_is_deleted_in_one_scope_only(
        self, memory: Memory, writes: list[tuple[Scope, str, int]], pattern: str
    ) -> None:
        for scope, key, value in writes:
            await memory.namespace(scope).push(key, value)
        first, *others = (memory.namespace(scope) for scope in dict.fromkeys(scope for scope, _, _ in writes))
        before = [(await other.snapshot()).values() for other in others]
        count, matching = await first.count(), await first.keys(pattern)
        assert await first.delete_matching(pattern) == len(matching)
        assert await first.clear() == count - len(matching)
        assert [(await other.snapshot()).values() for other in others] == before
        for other in others:
            await other.clear()

    async def test_m17_clear_empties_one_scope_and_counts(self, of: Keys) -> None:
        for scope in ("user:1", "user:2", "team:1", "chat:1"):
            await of(scope).set_many({"a": 1, "b": [1, 2]})
        assert await of("user:1").clear() == 2
        assert [await of(scope).count() for scope in ("user:1", "user:2", "team:1", "chat:1")] == [0, 2, 2, 2]


class TestTheWhole:
    async def test_m43_stats_name_scope_id_count_and_store(self, of: Keys, clock: Clock, home: Home) -> None:
        await of("chat:a").set_many({"x": 1, "y": [1]})
        await of("chat:a").set("z", 1, ttl=5)
        clock.forward(5)
        assert await of("chat:a").stats() == Stats(ScopeKind.CHAT, "a", 2, str(home.database_file))

    async def test_ids_are_listed_a_page_at_a_time_and_only_where_something_lives(
        self, memory: Memory, of: Keys, clock: Clock
    ) -> None:
        ids = sorted(["b", "a:b", "A", "*", "ä", "z\0", "z"])
        for scope_id in ids:
            await of(f"chat:{scope_id}").set_many({"x": 1, "y": 2}, ttl=60)
        await of("chat:gone").set("x", 1, ttl=5)
        await of("user:u").set("x", 1)
        clock.forward(5)
        assert await memory.scopes.ids(ScopeKind.CHAT) == ids
        assert await memory.scopes.ids(ScopeKind.CHAT, after=ids[2], limit=3) == ids[3:6]
        assert await memory.scopes.ids(ScopeKind.TEAM) == []

    async def test_m51_the_sweep_removes_what_has_expired_with_its_items_and_nothing_else(
        self, memory: Memory, of: Keys, clock: Clock, database: Database
    ) -> None:
        await of("user:1").set_many({f"k{number}": [number] for number in range(1200)}, ttl=5)
        await of("user:1").push("kept", 1, ttl=6)
        await of("team:1").set("kept", 1)
        clock.forward(5)
        assert await memory.scopes.sweep() == 1200
        assert await memory.scopes.sweep() == 0
        for table, rows in (("scoped_values", 2), ("list_items", 1)):
            query = f"SELECT count(*) FROM {table}"
            (count,) = await database.read(lambda connection, query=query: connection.execute(query).fetchone())  # type: ignore[misc]
            assert count == rows

    async def test_m51_the_sweep_comes_again_as_often_as_asked(
        self, home: Home, database: Database, calls: BlockingCalls, clock: Clock
    ) -> None:
        memory = Memory(home, database, calls, clock, sweep_every=0.01)
        await memory.namespace(Scope.parse("user:1")).set("k", 1, ttl=5)
        sweeping = asyncio.create_task(memory.look_after())
        clock.forward(5)
        try:
            async with asyncio.timeout(20):
                while await database.read(
                    lambda connection: connection.execute("SELECT 1 FROM scoped_values").fetchone()
                ):
                    await asyncio.sleep(0.01)
        finally:
            sweeping.cancel()

    async def test_m50_another_connection_sees_a_write_at_once_and_is_told_within_a_second(
        self, home: Home, database: Database, calls: BlockingCalls, clock: Clock
    ) -> None:
        mine = Memory(home, database, calls, clock).namespace(Scope.parse("user:1"))
        async with Database(home.database_file) as theirs, aclosing(theirs.changes()) as changes:
            await anext(changes)
            await mine.set("k", 1)
            async with asyncio.timeout(1):
                await anext(changes)
            assert await Memory(home, theirs, calls, clock).namespace(Scope.parse("user:1")).get("k") == 1

    async def test_m52_the_same_ids_are_the_same_keys_and_nothing_is_cached(self, memory: Memory, of: Keys) -> None:
        first, second = of("user:1"), of("user:1")
        await first.set("k", 1)
        assert await second.get("k") == 1
        await second.delete("k")
        assert await first.get("k") is MISSING
        before = size_of(memory.scopes)
        for number in range(100):
            of(f"context:{number}")
        assert size_of(memory.scopes) == before


def size_of(thing: Any) -> int:
    """How many objects an object holds on to by itself."""
    return len(vars(thing))
