"""What the table shows: what was changed last at first, then what the cursor of the tree rests on."""

from __future__ import annotations

from typing import Any

import pytest

from services.memory import Draft, Scope, ScopeKind
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.memory.places import AgentRows, ScopeKeys, ScopesOf
from tui.widgets.table import PagedTable, Window

TEAM = Scope.parse("team:core")


@pytest.fixture
def places(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every place the table turns to from now on."""
    turned: list[Any] = []
    turn_to = desk.screen._listing.turn_to

    def turning(place: Any, text: str = "") -> None:
        turned.append(place)
        turn_to(place, text)

    monkeypatch.setattr(desk.screen._listing, "turn_to", turning)
    return turned


async def begin_anew(desk: Desk) -> None:
    desk.screen.show_place(None)
    desk.screen._tree.show(())
    await desk.screen._reading.read_tree()


def line(desk: Desk) -> Any:
    return desk.screen._tree.table.row


async def test_the_screen_begins_with_the_key_that_was_changed_last(desk: Desk) -> None:
    await desk.memory().store(Draft(key="style", content="short"))
    await desk.keys(TEAM).set("motto", 1)
    await desk.keys().set_many({"a": 1, "b": 2, "c": 3})
    await desk.keys().set("b", 4)
    await begin_anew(desk)
    await desk.until(lambda: desk.screen._listing.place == ScopeKeys(USER) and desk.item == "b")
    await desk.until(lambda: desk.viewer.item is not None and desk.viewer.item.id == "b")
    assert (line(desk).place, line(desk).count) == (ScopeKeys(USER), "3")


async def test_the_screen_begins_with_the_row_that_was_stored_last(desk: Desk) -> None:
    await desk.keys().set("a", 1)
    await desk.memory().store(Draft(key="style", content="short"))
    await begin_anew(desk)
    await desk.until(lambda: desk.screen._listing.place == AgentRows("reviewer") and desk.item == "style")
    assert (line(desk).label, line(desk).count) == ("reviewer", "1")


async def test_with_nothing_remembered_the_screen_says_which_key_stores_something(desk: Desk) -> None:
    await begin_anew(desk)
    await desk.until(lambda: desk.screen._listing.place == ScopesOf(ScopeKind.USER))
    await desk.until_shown("n  set a key of any user")


async def test_a_key_can_be_set_in_a_scope_that_has_none(desk: Desk) -> None:
    desk.screen.show_place(ScopesOf(ScopeKind.CHAT))
    await desk.until_shown("n new")
    await desk.operate("set-in", id="9", key="topic", value="parsers", ttl="")
    await desk.until(lambda: desk.screen._listing.place == ScopeKeys(Scope.parse("chat:9")) and desk.item == "topic")
    assert await desk.keys("chat:9").get("topic") == "parsers"
    await desk.until(lambda: line(desk).place == ScopeKeys(Scope.parse("chat:9")))
    await desk.until_closed()
    await desk.undo()
    assert await desk.keys("chat:9").count() == 0


async def test_a_flood_of_cursor_keys_shows_only_the_place_it_ends_on(desk: Desk, places: list[Any]) -> None:
    for number in range(150):
        await desk.keys(f"chat:{number:03}").set("a", number)
    await desk.until(lambda: len(desk.screen._tree.table.rows) > 150)
    desk.screen.show_place(ScopesOf(ScopeKind.USER))
    await desk.until(lambda: line(desk).key == "user")
    for _ in range(140):
        desk.screen._tree.table.action_down()
    await desk.until(lambda: desk.table.total == 1)
    assert places == [ScopesOf(ScopeKind.USER), line(desk).place]


async def test_what_is_shown_stays_when_lines_of_the_tree_come_and_go(desk: Desk, places: list[Any]) -> None:
    await desk.keys(TEAM).set("motto", 1)
    await desk.show(TEAM)
    await desk.until(lambda: line(desk).place == ScopeKeys(TEAM))
    await desk.keys().set("a", 1)
    await desk.until(lambda: any(node.place == ScopeKeys(USER) for node in desk.screen._tree.table.rows))
    await desk.keys(TEAM).delete("motto")
    await desk.until(lambda: all(node.place != ScopeKeys(TEAM) for node in desk.screen._tree.table.rows))
    await desk.until_shown("No keys")
    assert places == [ScopeKeys(TEAM)]


async def test_the_tree_goes_to_a_place_shown_by_other_means_once_it_has_a_line(desk: Desk, places: list[Any]) -> None:
    await desk.show(rows=0)
    await desk.keys().set("a", 1)
    await desk.until(lambda: line(desk).place == ScopeKeys(USER))
    assert places == [ScopeKeys(USER)]


async def test_right_unfolds_goes_below_and_on_to_the_rows(desk: Desk) -> None:
    desk.screen._reading.open.clear()
    await desk.keys().set("a", 1)
    await desk.until(lambda: desk.screen._tree.table.rows[0].open is False)
    await desk.press("g", "right")
    await desk.until(lambda: desk.screen._tree.table.rows[0].open)
    await desk.press("right")
    await desk.until(lambda: desk.screen._listing.place == ScopeKeys(USER))
    await desk.press("right")
    await desk.until(lambda: desk.table.has_focus)


async def test_no_line_of_the_tree_can_be_marked(desk: Desk) -> None:
    await desk.press("space", "asterisk")
    assert not desk.screen._tree.table.marked
    assert " mark" not in shown(desk.app)


async def test_a_page_that_is_wanted_meanwhile_does_not_keep_the_cursor_from_the_row_it_was_sent_to(desk: Desk) -> None:
    await desk.keys().set_many({f"k{number}": number for number in range(9)})
    await desk.show(rows=9)
    desk.screen.show_place(ScopeKeys(USER), "k7")
    desk.screen._read_more(PagedTable.Wanted(desk.table, Window(0, 50)))
    await desk.until(lambda: desk.item == "k7")
