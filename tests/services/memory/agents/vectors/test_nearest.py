"""What is nearest is what a plain comparison of every row finds, however it is kept at hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from services.home.migrations import migrate
from services.memory import Query
from services.memory.agents.vectors import rows
from services.memory.agents.vectors.model import Space
from services.memory.agents.vectors.nearest import nearest
from services.memory.agents.vectors.shelf import PAGE, Shelf, Shelves

Vector = NDArray[np.float64]

SIZE = 8
QUERY = np.eye(SIZE, dtype=np.float32)[0]


class Table:
    """Rows of two agents with vectors."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(self.connection)
        self.space = rows.sure_space(self.connection, Space("p", "m", SIZE))
        for agent in "ab":
            self.connection.execute("INSERT INTO agents VALUES (?, ?, 1)", (agent, f"agent_{agent}"))

    def put(self, number: int, vector: Vector, agent: str = "a", category: str = "core", gone: bool = False) -> None:
        self.connection.execute(
            "INSERT INTO memories (number, id, agent, key, content, category, importance, superseded_by, created_at,"
            " updated_at) VALUES (?, ?, ?, ?, 'x', ?, 0.5, ?, 1, 1)",
            (number, f"{number:05}", agent, str(number), category, "by" if gone else ""),
        )
        self.embed(number, vector, agent)

    def embed(self, number: int, vector: Vector, agent: str = "a") -> None:
        self.connection.execute(
            "INSERT OR REPLACE INTO memory_vectors (memory, agent, space, vector) VALUES (?, ?, ?, ?)",
            (number, agent, self.space, vector.astype("<f4").tobytes()),
        )

    def shelf(self, agent: str = "a", *, filled: bool = True) -> Shelf:
        shelf = Shelf(agent, self.space, SIZE)
        while filled and shelf.fill(self.connection):
            pass
        return shelf

    def found(self, shelf: Shelf, query: Query) -> list[str]:
        scores = [shelf.scores(self.connection, QUERY)]
        return [one.row.id for one in nearest(self.connection, scores, ["a"], query)]


@pytest.fixture
def table() -> Iterator[Table]:
    table = Table()
    yield table
    table.connection.close()


def at(likeness: float) -> Vector:
    """A vector with this likeness to the query."""
    return np.array([likeness, (1 - likeness**2) ** 0.5, *[0.0] * (SIZE - 2)])


ROW = st.tuples(st.integers(-20, 20), st.sampled_from(["core", "daily"]), st.booleans())


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(ROW, max_size=60), limit=st.integers(1, 12), daily=st.booleans(), filled=st.booleans())
def test_it_finds_what_a_plain_comparison_finds(
    made: list[tuple[int, str, bool]], limit: int, daily: bool, filled: bool
) -> None:
    table = Table()
    for number, (likeness, category, gone) in enumerate(made):
        table.put(number, at(likeness / 20), category=category, gone=gone)
    query = Query("x", limit=limit, category="daily" if daily else None)
    fits = [
        (-likeness, number)
        for number, (likeness, category, gone) in enumerate(made)
        if likeness > 0 and not gone and (category == "daily" or not daily)
    ]
    expected = [f"{number:05}" for _, number in sorted(fits)[:limit]]
    found = table.found(table.shelf(filled=filled), query)
    likeness_of = {f"{number:05}": likeness for number, (likeness, _, _) in enumerate(made)}
    assert [likeness_of[one] for one in found] == [likeness_of[one] for one in expected]
    table.connection.close()


def test_many_rows_that_may_not_be_recalled_hide_none_that_may(table: Table) -> None:
    table.connection.execute("BEGIN")
    for number in range(3000):
        table.put(number, at(0.9), gone=True)
    table.put(5000, at(0.1))
    table.connection.execute("COMMIT")
    shelf = table.shelf()
    assert len(shelf) == 3001 > PAGE
    assert table.found(shelf, Query("x", limit=1)) == ["05000"]


def test_what_is_stored_changed_or_forgotten_later_counts_as_it_is_then(table: Table) -> None:
    for number in range(3):
        table.put(number, at(0.9 - number / 10))
    shelf = table.shelf()
    assert table.found(shelf, Query("x")) == ["00000", "00001", "00002"]
    table.put(3, at(0.95))
    table.embed(0, at(0.2))
    table.connection.execute("DELETE FROM memory_vectors WHERE memory = 1")
    for _ in range(2):
        assert table.found(shelf, Query("x")) == ["00003", "00002", "00000"]
        shelf.fill(table.connection)


def test_a_shelf_full_of_what_is_gone_begins_anew(table: Table) -> None:
    table.connection.execute("BEGIN")
    for number in range(PAGE + 10):
        table.put(number, at(0.9))
    table.connection.execute("COMMIT")
    shelf = table.shelf()
    table.connection.execute("DELETE FROM memory_vectors WHERE memory > 0")
    shelf.tidy(1)
    assert len(shelf) == 0
    assert table.found(shelf, Query("x")) == ["00000"]


@pytest.mark.parametrize("blob", [b"", b"abc", b"\0" * 64, b"\xff" * 32], ids=["empty", "odd", "longer", "no numbers"])
def test_a_vector_that_is_none_is_passed_over(table: Table, blob: bytes) -> None:
    table.put(0, at(0.5))
    table.put(1, at(0.9))
    table.connection.execute("UPDATE memory_vectors SET vector = ? WHERE memory = 1", (blob,))
    assert table.found(table.shelf(), Query("x")) == ["00000"]


def test_shelves_not_used_for_longest_are_emptied_and_one_without_room_is_read_as_it_goes(
    table: Table,
) -> None:
    for number in range(20):
        table.put(number, at(number / 20), agent="ab"[number % 2])
    shelves = Shelves(most_bytes=12 * 4 * SIZE)
    first = shelves.of("a", table.space, SIZE)
    assert shelves.has_room(first)
    first.fill(table.connection)
    second = shelves.of("b", table.space, SIZE)
    assert shelves.has_room(second)
    second.fill(table.connection)
    assert shelves.of("b", table.space, SIZE) is second
    assert shelves.has_room(second)
    assert shelves.of("a", table.space, SIZE) is not first
    tiny = Shelves(most_bytes=1)
    only = tiny.of("a", table.space, SIZE)
    only.fill(table.connection)
    assert not tiny.has_room(only)
    assert table.found(only, Query("x", limit=3)) == ["00018", "00016", "00014"]
