"""Changes made meanwhile by somebody else: seen while editing, and never written over without a choice."""

from __future__ import annotations

import pytest

from services.memory import MISSING, Block, Draft, Row
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import Desk
from tui.screens.dialog import Confirm
from tui.screens.memory.editing.saving import ResolveConflict, SaveChange
from tui.screens.memory.places import AgentRows, CoreBlocksOf


async def begin(desk: Desk, text: str) -> None:
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    desk.viewer._editor.show_instead(text, desk.viewer.form)
    await desk.pilot.pause()


async def row_of(desk: Desk) -> Row:
    row = await desk.memory().get("style")
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("choice", "left"),
    [(("right", "right"), "mine"), (("right",), "theirs"), ((), "theirs")],
    ids=["mine", "theirs", "neither"],
)
async def test_a_change_meanwhile_is_shown_while_editing_and_settled_by_choice(desk: Desk, choice, left: str) -> None:
    await desk.keys().set("a", "before")
    await desk.show()
    await begin(desk, "mine")
    await desk.keys().set("a", "theirs")
    await desk.until_shown("⚠ changed meanwhile")
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, ResolveConflict))
    text = shown(desk.app)
    assert "- theirs" in text
    assert "+ mine" in text
    assert await desk.keys().get("a") == "theirs"
    await desk.press(*choice, "enter")
    await desk.until_closed()
    if choice:
        await desk.until(lambda: desk.viewer.draft is None)
    else:
        assert desk.viewer.typed == "mine"
    assert await desk.keys().get("a") == left


async def test_a_change_in_the_last_moment_is_not_written_over_either(desk: Desk) -> None:
    await desk.keys().set("a", "before")
    await desk.show()
    await begin(desk, "mine")
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    await desk.keys().set("a", "theirs")
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, ResolveConflict))
    assert await desk.keys().get("a") == "theirs"


async def test_a_key_deleted_meanwhile_is_written_anew_only_by_choice(desk: Desk) -> None:
    await desk.keys().set("a", "before")
    await desk.show()
    await begin(desk, "mine")
    await desk.keys().delete("a")
    await desk.until_shown("⚠ changed meanwhile")
    await desk.press("ctrl+s")
    await desk.until_shown("a was deleted meanwhile")
    assert await desk.keys().get("a") is MISSING
    await desk.press("right", "right", "enter")
    await desk.until(lambda: desk.viewer.draft is None)
    assert await desk.keys().get("a") == "mine"


async def test_a_row_that_an_agent_stores_in_the_last_moment_is_not_written_over(desk: Desk) -> None:
    await desk.memory().store(Draft(key="style", content="before"))
    await desk.show(AgentRows("reviewer"))
    await begin(desk, "mine")
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    await desk.memory().store(Draft(key="style", content="theirs"))
    await desk.press("enter")
    await desk.until(lambda: isinstance(desk.app.screen, ResolveConflict))
    assert "- theirs" in shown(desk.app)
    assert (await row_of(desk)).content == "theirs"
    await desk.press("right", "right", "enter")
    await desk.until(lambda: desk.viewer.draft is None)
    assert (await row_of(desk)).content == "mine"
    await desk.undo()
    assert (await row_of(desk)).content == "theirs"


async def test_a_row_deleted_meanwhile_is_written_anew_only_by_choice(desk: Desk) -> None:
    await desk.memory().store(Draft(key="style", content="before", category="daily"))
    await desk.show(AgentRows("reviewer"))
    await begin(desk, "mine")
    await desk.memory().forget("style")
    await desk.until_shown("⚠ changed meanwhile")
    await desk.press("ctrl+s")
    await desk.until_shown("style was deleted meanwhile")
    assert await desk.memory().get("style") is None
    await desk.press("right", "right", "enter")
    await desk.until(lambda: desk.viewer.draft is None)
    row = await row_of(desk)
    assert (row.content, row.category) == ("mine", "daily")


async def test_rows_and_blocks_are_held_to_the_same(desk: Desk) -> None:
    await desk.memory().store(Draft(key="style", content="before"))
    await desk.show(AgentRows("reviewer"))
    await begin(desk, "mine")
    await desk.memory().store(Draft(key="style", content="theirs"))
    await desk.until_shown("⚠ changed meanwhile")
    desk.viewer.end()
    tenant = await desk.pinfold.core_memory.tenants.of_agent("reviewer")
    blocks = desk.pinfold.core_memory.blocks(tenant)
    await desk.show(CoreBlocksOf(tenant, "reviewer"), "human", rows=3)
    await begin(desk, "mine")
    await blocks.append(Block.HUMAN, "theirs")
    await desk.until_shown("⚠ changed meanwhile")
    assert (await blocks.read(Block.HUMAN)).content == "theirs"


async def test_what_somebody_changed_since_is_taken_back_only_when_said_so(desk: Desk) -> None:
    await desk.keys().set("n", 1)
    await desk.show()
    await desk.press("plus")
    await desk.until_shown("n is 2; u takes it back")
    await desk.keys().set("n", 9)
    await desk.press("u")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    await desk.press("enter")
    await desk.until_closed()
    assert await desk.keys().get("n") == 9
    await desk.press("u")
    await desk.until(lambda: isinstance(desk.app.screen, Confirm))
    await desk.press("right", "enter")
    await desk.until(lambda: not desk.screen._changing.undos._kept)
    assert await desk.keys().get("n") == 1
