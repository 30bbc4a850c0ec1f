"""The tree of places with its counts, and the search through all of them."""

from __future__ import annotations

from typing import Any

from services.memory import Block, Draft
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf, FoundRows, ScopeKeys

SECRET = "ghp_" + "b" * 36


def labels(desk: Desk) -> list[tuple[str, str]]:
    return [(node.label, node.count) for node in desk.screen._tree.table.rows]


async def go_to(desk: Desk, label: str, *, depth: int | None = None) -> Any:
    """Put the cursor of the tree on a line."""
    node = next(n for n in desk.screen._tree.table.rows if n.label == label and depth in (None, n.depth))
    desk.screen._tree.table.focus()
    desk.screen._tree.table.move_to(node.key)
    await desk.pilot.pause()
    return node


async def test_the_tree_counts_keys_rows_entries_and_roles(desk: Desk) -> None:
    await desk.keys().set_many({"a": 1, "b": 2})
    await desk.keys("chat:9").set("c", 3)
    await desk.memory().store(Draft(key="x", content="x", category="core"))
    await desk.memory().store(Draft(key="y", content="y", category="notes"))
    tenants = desk.pinfold.core_memory.tenants
    tenant = await tenants.of_agent("reviewer")
    await desk.pinfold.core_memory.archive(tenant).insert("z")
    await tenants.of_role(tenant, "reviewer", "planner")
    await desk.until(lambda: ("42", "2") in labels(desk) and ("9", "1") in labels(desk))
    await go_to(desk, "reviewer")
    await desk.press("l")
    await desk.until(lambda: ("role planner", "") in labels(desk))
    found = labels(desk)
    for line in (("memories", "2"), ("core", "1"), ("daily", "0"), ("archive entries", "1"), ("core blocks", "")):
        assert line in found
    await go_to(desk, "archive entries", depth=1)
    await desk.until(lambda: isinstance(desk.screen._listing.place, ArchiveOf))
    await desk.press("h", "h")
    await desk.until(lambda: ("archive entries", "1") not in labels(desk))
    await go_to(desk, "users")
    await desk.press("enter")
    await desk.until(lambda: ("42", "2") not in labels(desk))


async def test_many_scopes_are_shown_page_by_page(desk: Desk, monkeypatch) -> None:
    monkeypatch.setattr("tui.screens.memory.outline.PAGE", 3)
    for number in range(8):
        await desk.keys(f"team:{number}").set("a", 1)
    await desk.until(lambda: ("more teams", "") in labels(desk))
    assert ("teams", "3+") in labels(desk)
    await go_to(desk, "more teams")
    await desk.press("enter")
    await desk.until(lambda: ("5", "1") in labels(desk))
    await go_to(desk, "more teams")
    await desk.press("enter")
    await desk.until(lambda: ("7", "1") in labels(desk) and ("more teams", "") not in labels(desk))
    desk.screen._reading.pages.clear()


async def test_the_tree_shows_what_has_no_agent_any_more(desk: Desk) -> None:
    await desk.pinfold.core_memory.tenants.of_agent("retired")
    await desk.screen._reading.read_tree()
    assert "⚠ retired" in shown(desk.app)


async def test_moving_in_the_tree_shows_the_place_and_enter_goes_to_its_rows(desk: Desk) -> None:
    await desk.keys().set("a", 1)
    await desk.until(lambda: ("42", "1") in labels(desk))
    await go_to(desk, "42")
    await desk.until(lambda: desk.screen._listing.place == ScopeKeys(USER) and desk.table.total == 1)
    await desk.press("enter")
    await desk.until(lambda: desk.table.has_focus)
    await desk.press("escape")
    await desk.until(lambda: desk.screen._tree.table.has_focus)


async def test_a_search_finds_all_kinds_and_opens_what_it_found(desk: Desk) -> None:
    await desk.keys().set("needle-key", 1)
    await desk.keys("chat:9").set("c", {"text": f"a needle {SECRET}"})
    await desk.memory().store(Draft(key="row", content="the needle in a row"))
    tenant = await desk.pinfold.core_memory.tenants.of_agent("reviewer")
    await desk.pinfold.core_memory.blocks(tenant).append(Block.HUMAN, "likes a needle")
    await desk.pinfold.core_memory.archive(tenant).insert("the needle was put away")
    await desk.press("s")
    await desk.until_shown("Search scopes, agents, core blocks and archives")
    await desk.type("needle")
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.screen._listing.place, FoundRows) and desk.table.total == 5)
    places = {type(item.place) for item in desk.table.rows}
    assert places == {ScopeKeys, AgentRows, CoreBlocksOf, ArchiveOf}
    assert SECRET not in shown(desk.app)
    desk.table.move_to(next(item.key for item in desk.table.rows if item.id == "c"))
    await desk.press("enter")
    await desk.until(lambda: desk.screen._listing.place != FoundRows("needle") and desk.item == "c")


async def test_words_recall_rows_the_best_first_and_escape_shows_all_again(desk: Desk) -> None:
    await desk.memory().store(Draft(key="a", content="the parser is slow"))
    await desk.memory().store(Draft(key="b", content="lunch at noon"))
    await desk.show(AgentRows("reviewer"), rows=2)
    await desk.press("slash")
    await desk.type("pars*")
    await desk.until(lambda: [item.id for item in desk.table.rows] == ["a"])
    assert "recall: pars*" in shown(desk.app)
    await desk.press("escape")
    await desk.until(lambda: desk.table.total == 2)


async def test_a_superseded_row_and_a_finding_say_so(desk: Desk) -> None:
    await desk.memory().store(Draft(key="old", content="tabs"))
    await desk.memory().store(Draft(key="new", content=f"spaces {SECRET}"))
    await desk.memory().supersede("old", "new")
    await desk.show(AgentRows("reviewer"), "old", rows=2)
    await desk.until_shown("superseded by", "⚠ secret")
    assert SECRET not in shown(desk.app)
