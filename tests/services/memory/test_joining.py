"""Writes that wait for one another do what they would do one by one."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import InputRefused, MemoryRefused, WrongKind
from services.home import BlockingCalls, Database, Home
from services.memory import Memory, Namespace, Scope
from services.memory.scopes import appending

Written: TypeAlias = list[str] | tuple[list[str] | str]

KEYS = ("one", "two", "no list")
LIMIT = 120


@pytest.fixture
def small_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending, "LIST_LIMIT", LIMIT)


values = st.lists(st.text("ab", max_size=12), max_size=4)
writes = st.lists(
    st.tuples(st.sampled_from(KEYS), values | st.tuples(values | st.text("ab", max_size=12))), min_size=1, max_size=30
)
"""What is appended to a key; a tuple holds what is stored over it."""


async def told(keys: Namespace, key: str, written: Written) -> int | type[MemoryRefused] | None:
    try:
        if isinstance(written, tuple):
            await keys.set(key, written[0])
            return None
        return await keys.push(key, *written)
    except MemoryRefused as refused:
        return type(refused)


async def everything(keys: Namespace) -> list[tuple[str, bytes]]:
    return [(kept.key, bytes(kept.value)) for kept in (await keys.snapshot()).entries]


@pytest.mark.usefixtures("small_lists")
@settings(max_examples=30)
@given(writes)
def test_together_they_return_refuse_and_leave_what_they_would_alone(writes: list[tuple[str, Written]]) -> None:
    asyncio.run(compare(writes))


async def compare(writes: list[tuple[str, Written]]) -> None:
    calls = BlockingCalls()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        async with Database(home.database_file) as database:
            memory = Memory(home, database, calls)
            alone, together = (memory.namespace(Scope.parse(f"user:{name}")) for name in ("alone", "together"))
            for keys in (alone, together):
                await keys.set("no list", "a text")
                await keys.push("one", "first")
            expected = [await told(alone, key, written) for key, written in writes]
            found = await asyncio.gather(*(told(together, key, written) for key, written in writes))
            assert found == expected
            assert await everything(together) == await everything(alone)
    calls.close()


@pytest.mark.usefixtures("small_lists")
async def test_one_that_is_refused_is_left_out_and_those_after_it_are_not(memory: Memory) -> None:
    keys = memory.namespace(Scope.parse("user:42"))
    await keys.set("text", "a text")
    await keys.push("list", "a")
    pushed = await asyncio.gather(
        keys.push("list", "b"),
        keys.push("list", "x" * LIMIT),
        keys.push("text", "c"),
        keys.push("new", "d"),
        keys.push("list", "e", "f"),
        keys.push("new", "g"),
        return_exceptions=True,
    )
    assert [result if isinstance(result, int) else type(result) for result in pushed] == [
        2, InputRefused, WrongKind, 1, 4, 2,
    ]  # fmt: skip
    assert await keys.array_all("list") == ["a", "b", "e", "f"]
    assert await keys.array_all("new") == ["d", "g"]
    assert await keys.get("text") == "a text"
