"""Values edited: checked as they are typed, compared before they are written, taken back with their time."""

from __future__ import annotations

import pytest
from textual.widgets import Button

from services.memory import Block, Draft
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.dialog import Confirm
from tui.screens.memory.editing.saving import SaveChange
from tui.screens.memory.places import AgentRows, CoreBlocksOf

SECRET = "ghp_" + "a" * 36


async def edit(desk: Desk, text: str) -> None:
    """Begin to edit the row under the cursor, and type something in place of what is there."""
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    desk.viewer._editor.show_instead(text, desk.viewer.form)
    await desk.pilot.pause()


async def save(desk: Desk) -> None:
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    await desk.press("enter")
    await desk.until(lambda: desk.viewer.draft is None)


async def test_a_value_is_compared_then_written_and_taken_back_with_its_time(desk: Desk) -> None:
    await desk.keys().set("prefs", {"tabs": 4, "theme": "dark"}, ttl=600)
    before = await desk.keys().entry("prefs")
    await desk.show(item="prefs")
    await edit(desk, '{"tabs": 8, "theme": "dark"}')
    assert "✓ valid JSON" in shown(desk.app)
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    text = shown(desk.app)
    assert '-   "tabs": 4,' in text
    assert '+   "tabs": 8,' in text
    assert await desk.keys().get("prefs") == {"tabs": 4, "theme": "dark"}
    await desk.press("enter")
    await desk.until_shown("prefs is saved; u takes it back")
    after = await desk.keys().entry("prefs")
    assert before is not None
    assert after is not None
    assert await desk.keys().get("prefs") == {"tabs": 8, "theme": "dark"}
    assert after.expires_at == before.expires_at
    await desk.undo()
    back = await desk.keys().entry("prefs")
    assert back is not None
    assert (back.preview, back.expires_at) == (before.preview, before.expires_at)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: expecting ':' delimiter"),
        ("[1, 2", "line 1, column 6: expecting ',' delimiter"),
        ("", "line 1, column 1: expecting value"),
        ("NaN", "JSON is malformed"),
        ("123456789012345678901234567890", "64 bits"),
        ("[" * 100 + "]" * 100, "nested more than 64"),
    ],
    ids=["second-line", "cut", "empty", "nan", "too-large", "too-deep"],
)
async def test_what_is_no_json_is_told_with_its_place_and_cannot_be_saved(desk: Desk, typed: str, problem: str) -> None:
    await desk.keys().set("a", [1])
    await desk.show()
    await edit(desk, typed)
    await desk.until_shown(problem)
    await desk.press("ctrl+s")
    assert desk.app.screen is desk.screen
    assert await desk.keys().get("a") == [1]


async def test_a_text_is_typed_as_it_is_or_as_json(desk: Desk) -> None:
    await desk.keys().set("note", 'two\nlines \\ "quoted"')
    await desk.show()
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None)
    assert desk.viewer.typed == 'two\nlines \\\\ "quoted"'
    assert not desk.viewer.changed
    await desk.press("ctrl+t")
    await desk.until(lambda: desk.viewer.form == "json")
    assert desk.viewer.typed == '"two\\nlines \\\\ \\"quoted\\""'
    assert not desk.viewer.changed
    desk.viewer._editor.show_instead('["now", "a", "list"]', "json")
    await desk.pilot.pause()
    await save(desk)
    assert await desk.keys().get("note") == ["now", "a", "list"]


async def test_leaving_asks_only_when_something_would_be_lost(desk: Desk) -> None:
    await desk.keys().set("a", 1)
    await desk.show()
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None)
    await desk.press("escape")
    await desk.until(lambda: desk.viewer.draft is None)
    await edit(desk, "2")
    assert desk.screen._editing.unsaved() == ["a: what was typed"]
    await desk.press("escape")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    assert desk.app.screen.query_one("#cancel", Button).has_focus
    await desk.press("right", "enter")
    await desk.until(lambda: desk.viewer.draft is None)
    assert await desk.keys().get("a") == 1


async def test_a_row_of_an_agent_keeps_all_but_its_content(desk: Desk) -> None:
    draft = Draft(key="style", content="long answers", category="core", importance=0.75, pinned=True, session="s1")
    before = await desk.memory().store(draft)
    await desk.show(AgentRows("reviewer"), "style")
    await edit(desk, "short answers\nplease")
    await save(desk)
    row = await desk.memory().get("style")
    assert row is not None
    assert row.content == "short answers\nplease"
    assert (row.category, row.importance, row.pinned, row.session) == ("core", 0.75, True, "s1")
    await desk.undo()
    assert await desk.memory().get("style") == before


async def test_a_core_block_shows_its_characters_and_refuses_more_than_fit(desk: Desk) -> None:
    tenant = await desk.pinfold.core_memory.tenants.of_agent("reviewer")
    blocks = desk.pinfold.core_memory.blocks(tenant)
    await blocks.append(Block.PERSONA, "careful")
    await desk.show(CoreBlocksOf(tenant, "reviewer"), "persona", rows=3)
    assert "7 of 2,000" in shown(desk.app)
    await edit(desk, "x" * 2001)
    await desk.until_shown("2,001 characters, 1 more than fit")
    desk.viewer._editor.show_instead("careful and kind", "text")
    await desk.until_shown("16 of 2,000 characters")
    await save(desk)
    assert (await blocks.read(Block.PERSONA)).content == "careful and kind"
    await desk.undo()
    assert (await blocks.read(Block.PERSONA)).content == "careful"


async def test_secrets_are_hidden_until_asked_for_and_again_when_the_screen_is_left(desk: Desk) -> None:
    await desk.keys().set("login", {"token": SECRET, "user": "me"})
    await desk.show()
    await desk.until_shown("••••[api_key]", "⚠ api key")
    assert SECRET not in shown(desk.app)
    await desk.press("e")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    assert SECRET not in shown(desk.app)
    await desk.press("escape")
    await desk.until_closed()
    await desk.press("v")
    await desk.until_shown(SECRET)
    await desk.press("3", "2")
    await desk.until_shown("••••[api_key]")
    assert SECRET not in shown(desk.app)


async def test_a_value_too_large_to_edit_is_shown_in_part_with_its_size(desk: Desk) -> None:
    await desk.keys().set("huge", "x" * 1_000_000)
    await desk.show()
    await desk.until_shown("977K (1,000,002 bytes)")
    assert len(desk.viewer._body._lines) < 2000
    await desk.press("e")
    await desk.until_shown("too large to be edited here")
    assert desk.viewer.draft is None


async def test_a_new_key_is_set_from_a_form(desk: Desk) -> None:
    await desk.keys().set("a", 1)
    await desk.show(USER)
    await desk.press("n")
    await desk.until_shown("Store a value over whatever is there")
    await desk.type("greeting")
    await desk.press("tab")
    await desk.type("hello")
    await desk.press("tab")
    await desk.type("2h")
    await desk.press("enter")
    await desk.until_shown("greeting is set")
    await desk.until(lambda: desk.item == "greeting")
    entry = await desk.keys().entry("greeting")
    assert entry is not None
    assert entry.preview == '"hello"'
    assert entry.expires_at is not None
