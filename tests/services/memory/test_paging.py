"""What a screen reads: pages at any place, beginnings of values, counted scopes; all bounded however much there is."""

from __future__ import annotations

import sqlite3
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.home import Database
from services.memory import Entry, Memory, Namespace, Scope, ScopeCount, ScopeKind
from services.memory.scopes import rows
from tests.services.memory.conftest import Clock, Keys

HYPOTHESIS = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAMES = st.sets(st.text(st.sampled_from("ab*_%:\n"), min_size=1, max_size=4), max_size=12)


def plan_of(sql: str, connection: sqlite3.Connection) -> str:
    return str(connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchone()[3])


class TestPages:
    @HYPOTHESIS
    @given(NAMES, st.sampled_from(["", "a*", "*b*", "a"]), st.integers(0, 14), st.integers(1, 5))
    async def test_a_page_is_a_slice_of_all_keys(self, keys: Namespace, names, pattern, start, limit) -> None:
        await keys.clear()
        await keys.set_many(dict.fromkeys(names, 1))
        everything = await keys.keys(pattern)
        page = await keys.page(pattern, start=start, limit=limit)
        assert [entry.key for entry in page.entries] == everything[start : start + limit]
        assert page.total == len(everything)
        assert not page.entries or page.start == start

    @HYPOTHESIS
    @given(NAMES, st.text(st.sampled_from("ab*_"), min_size=1, max_size=3), st.sampled_from(["", "a*", "*b*"]))
    async def test_a_page_around_a_key_tells_its_place_even_when_it_is_gone(
        self, keys: Namespace, names, asked, pattern
    ) -> None:
        await keys.clear()
        await keys.set_many(dict.fromkeys(names, 1))
        everything = await keys.keys(pattern)
        page = await keys.page_around(asked, pattern, before=2, limit=5)
        place = sum(key < asked for key in everything)
        assert page.place == place
        assert [entry.key for entry in page.entries] == everything[max(place - 2, 0) :][:5]

    async def test_what_has_expired_takes_no_place(self, keys: Namespace, clock: Clock) -> None:
        for number in range(30):
            await keys.set(f"{number:02}", number, ttl=10 if number % 3 == 0 else "never")
        clock.forward(11)
        left = [f"{number:02}" for number in range(30) if number % 3]
        for start in range(len(left) + 2):
            page = await keys.page(start=start, limit=4)
            assert [entry.key for entry in page.entries] == left[start : start + 4]
            assert page.total == len(left)
        assert (await keys.page_around("15")).place == left.index("16")

    async def test_opening_100000_keys_reads_one_page_of_rows_and_else_the_index_alone(
        self, keys: Namespace, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fill(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO scoped_values (scope, id, key, kind, value, size, updated_at) VALUES ('user', '42', ?,"
                " 'integer', '1', 1, 1)",
                ((f"key-{number:06}",) for number in range(100_000)),
            )

        await database.write(fill)
        described: list[str] = []
        entry_of = rows.entry_of

        def counted(connection: sqlite3.Connection, row: rows.Row) -> Entry:
            described.append(row.key)
            return entry_of(connection, row)

        monkeypatch.setattr(rows, "entry_of", counted)
        statements: list[str] = []

        def traced(connection: sqlite3.Connection) -> None:
            connection.set_trace_callback(statements.append)

        await database.read(traced)
        for start in (0, 50_000, 99_960):
            page = await keys.page(start=start, limit=40)
            assert (page.start, page.total, len(page.entries)) == (start, 100_000, 40)
        assert len(described) == 3 * 40
        await database.read(lambda connection: connection.set_trace_callback(None))
        counts = [sql for sql in statements if "SELECT count(*)" in sql or "SELECT key" in sql]
        assert counts
        for sql in counts:
            plan = await database.read(partial(plan_of, sql))
            assert "COVERING INDEX" in plan or "scoped_values_that_expire" in plan


class TestExcerpts:
    @pytest.mark.parametrize("value", ["x" * 1_000_000, list(range(300_000))], ids=["text", "list"])
    async def test_the_beginning_of_a_huge_value_says_how_much_there_is(self, keys: Namespace, value) -> None:
        await keys.set("huge", value)
        excerpt = await keys.excerpt("huge", 100)
        assert excerpt is not None
        assert (len(excerpt.text), excerpt.whole) == (100, False)
        assert excerpt.entry.size > 900_000

    @pytest.mark.parametrize(
        ("value", "text"),
        [(None, "null"), ("", '""'), ([], "[]"), ([1, "a"], '[1,"a"]'), ({"a": [1]}, '{"a":[1]}')],
        ids=["null", "empty text", "empty list", "list", "object"],
    )
    async def test_a_small_value_is_whole(self, keys: Namespace, value, text) -> None:
        await keys.set("small", value)
        excerpt = await keys.excerpt("small", 100)
        assert excerpt is not None
        assert (excerpt.text, excerpt.whole) == (text, True)

    async def test_there_is_none_of_a_missing_key(self, keys: Namespace) -> None:
        assert await keys.excerpt("nothing", 100) is None


async def test_scopes_are_listed_with_how_many_keys_they_have(memory: Memory, of: Keys, clock: Clock) -> None:
    await of("chat:a").set_many({"1": 1, "2": 2})
    await of("chat:b").set("1", 1)
    await of("chat:gone").set("1", 1, ttl=1)
    await of("user:a").set("1", 1)
    clock.forward(2)
    chats = await memory.scopes.counted(ScopeKind.CHAT)
    assert chats == [ScopeCount(Scope(ScopeKind.CHAT, "a"), 2), ScopeCount(Scope(ScopeKind.CHAT, "b"), 1)]
    assert await memory.scopes.counted(ScopeKind.CHAT, after="a") == chats[1:]
    assert (await memory.scopes.counted(ScopeKind.CHAT, most=1))[0].keys == 2


class TestSearch:
    async def found(self, memory: Memory, text: str, limit: int = 500) -> list[tuple[str, str]]:
        return [
            (str(found.scope), found.entry.key)
            async for part in memory.scopes.search(text, limit=limit)
            for found in part
        ]

    async def test_it_looks_in_ids_keys_values_and_items(self, memory: Memory, of: Keys) -> None:
        await of("user:needle").set("a", 1)
        await of("user:b").set("the NEEDLE", 1)
        await of("team:c").set("c", {"x": ["a needle"]})
        await of("chat:d").push("d", "hay", "needles")
        await of("chat:e").set("e", "hay")
        assert await self.found(memory, "needle") == [
            ("user:needle", "a"),
            ("user:b", "the NEEDLE"),
            ("team:c", "c"),
            ("chat:d", "d"),
        ]

    @pytest.mark.parametrize("text", ["%", "_", "\\", "*"], ids=repr)
    async def test_no_character_is_special(self, memory: Memory, of: Keys, text: str) -> None:
        await of("user:1").set_many({f"with {text}": 1, "without": 1})
        assert await self.found(memory, text) == [("user:1", f"with {text}")]

    async def test_it_goes_part_by_part_past_what_does_not_fit_and_stops_at_the_limit(
        self, memory: Memory, of: Keys
    ) -> None:
        await of("user:1").set_many({f"{number:05}": "hay" for number in range(2500)})
        await of("user:2").set_many({"x": "needle", "y": "needle"})
        assert await self.found(memory, "needle") == [("user:2", "x"), ("user:2", "y")]
        assert len(await self.found(memory, "hay", limit=7)) == 7
