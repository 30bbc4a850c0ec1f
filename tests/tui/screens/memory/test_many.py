"""Many rows: tables of any length, marks, and what is deleted or moved at once, each told before."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from services.memory import Draft, Scope
from services.memory.scopes import rows
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.dialog import Confirm
from tui.screens.memory.changes.deleting import DeleteMatching
from tui.screens.memory.changes.moving import MoveKeys
from tui.screens.memory.places import AgentRows

CHAT = Scope.parse("chat:9")


async def values(desk: Desk, scope: Scope = USER) -> dict[str, Any]:
    return (await desk.keys(scope).snapshot()).values()


async def test_100000_keys_are_shown_at_any_place_and_few_are_read(desk: Desk, monkeypatch) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.executemany(
            "INSERT INTO scoped_values (scope, id, key, kind, value, size, updated_at)"
            " VALUES ('user', '42', ?, 'integer', '1', 1, 1)",
            ((f"key-{number:06}",) for number in range(100_000)),
        )

    await desk.pinfold.database.write(fill)
    read: set[str] = set()
    entry_of = rows.entry_of

    def counted(connection: sqlite3.Connection, row: rows.Row) -> Any:
        read.add(row.key)
        return entry_of(connection, row)

    monkeypatch.setattr(rows, "entry_of", counted)
    await desk.show(USER, rows=100_000)
    height = desk.table.size.height
    assert len(read) <= height * 4 + 100
    await desk.press("G")
    await desk.until_shown("key-099999")
    desk.table.scroll_to(y=50_000, animate=False, force=True)
    await desk.until_shown("key-050000")
    assert len(read) <= 3 * (height * 4 + 100)
    assert len(desk.table.rows) <= height * 4 + 100
    await desk.press("asterisk")
    await desk.until_shown("100,000 rows are too many to mark")
    await desk.press("slash")
    await desk.type("key-0000*")
    await desk.press("enter")
    await desk.until(lambda: desk.table.total == 100)
    await desk.press("asterisk")
    await desk.until(lambda: len(desk.table.marks) == 100)


async def test_marked_keys_are_listed_deleted_and_brought_back(desk: Desk) -> None:
    await desk.keys().set_many({"a": 1, "a*": 2, "b": [3]})
    await desk.show(USER)
    await desk.press("space", "space", "D")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    text = shown(desk.app)
    assert "Delete 2 keys of user:42?" in text
    await desk.press("enter")
    await desk.until_closed()
    assert len(await values(desk)) == 3
    await desk.press("D")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    await desk.press("right", "enter")
    await desk.until_shown("2 rows deleted; u takes it back")
    assert await values(desk) == {"b": [3]}
    await desk.undo()
    assert await values(desk) == {"a": 1, "a*": 2, "b": [3]}


async def test_a_pattern_shows_what_it_would_delete_while_it_is_typed(desk: Desk) -> None:
    await desk.keys().set_many({"tmp:a": 1, "tmp:b": 2, "kept": 3})
    await desk.show(USER)
    await desk.press("M")
    await desk.until(lambda: isinstance(desk.app.screen, DeleteMatching))
    await desk.type("tmp:*")
    await desk.until_shown("2 keys would go", "tmp:b")
    await desk.press("enter", "enter")
    await desk.until_shown("2 keys deleted")
    assert await values(desk) == {"kept": 3}
    await desk.undo()
    assert len(await values(desk)) == 3


async def test_a_scope_is_cleared_after_asking_and_comes_back(desk: Desk) -> None:
    await desk.keys().set_many({"a": 1, "b": 2})
    await desk.keys(CHAT).set("other", 1)
    await desk.show(USER)
    await desk.press("C")
    await desk.until_shown("Delete every key of user:42?", "2 keys")
    await desk.press("right", "enter")
    await desk.until_shown("2 keys deleted")
    assert (await values(desk), await values(desk, CHAT)) == ({}, {"other": 1})
    await desk.undo()
    assert await values(desk) == {"a": 1, "b": 2}


@pytest.mark.parametrize("replace", [False, True], ids=["leave", "replace"])
async def test_keys_move_to_another_scope_and_clashes_are_told_first(desk: Desk, replace: bool) -> None:
    await desk.keys().set_many({"a": 1, "b": 2})
    await desk.keys(CHAT).set("b", 9)
    await desk.show(USER)
    await desk.press("asterisk")
    await desk.until(lambda: len(desk.table.marks) == 2)
    await desk.press("m")
    await desk.until(lambda: isinstance(desk.app.screen, MoveKeys))
    dialog: Any = desk.app.screen
    dialog._line.value = "chat:9"
    dialog._clash.value = "replace" if replace else "leave"
    await desk.until_shown("2 keys would go" if replace else "1 key would go", "replaced" if replace else "left here")
    await desk.until(lambda: not dialog.query_one("#yes").disabled)
    dialog.query_one("#yes").press()
    await desk.until_shown("moved to chat:9")
    there = {"a": 1, "b": 2} if replace else {"a": 1, "b": 9}
    assert (await values(desk), await values(desk, CHAT)) == ({} if replace else {"b": 2}, there)
    await desk.undo()
    assert (await values(desk), await values(desk, CHAT)) == ({"a": 1, "b": 2}, {"b": 9})


async def test_rows_of_an_agent_are_forgotten_and_brought_back_as_they_were(desk: Desk) -> None:
    stored = [await desk.memory().store(Draft(key=key, content=key, pinned=key == "b")) for key in "abc"]
    await desk.show(AgentRows("reviewer"), rows=3)
    await desk.press("asterisk")
    await desk.until(lambda: len(desk.table.marks) == 3)
    await desk.press("D", "right", "enter")
    await desk.until_shown("3 rows deleted")
    assert await desk.memory().count() == 0
    await desk.undo()
    assert [await desk.memory().get(row.key) for row in stored] == stored
