"""Whatever is in memory, nothing of it acts on the terminal, and nothing of it is lost by looking or editing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from services.memory import Block, Draft
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.memory.editing.writing import drawable, read_typed_json, read_typed_text, typed_json, typed_text
from tui.screens.memory.facts import Content, content_lines
from tui.screens.memory.places import AgentRows, ArchiveOf, CoreBlocksOf

NASTY = "a\x1b[2J\x1b]52;c;aGk=\x07\x9b31m\u202elive\u2066 \x00\t[/bold] e\u0301 \U0001f1e9\U0001f1ea \u65e5\u672c\\n"
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VALUES: list[Any] = [NASTY, f"two\n{NASTY}", [NASTY], {NASTY: {NASTY: [NASTY]}}, "\U0001f600"]


@pytest.mark.parametrize("value", VALUES, ids=["text", "lines", "list", "object", "emoji"])
async def test_a_value_is_drawn_harmlessly_and_edited_without_loss(desk: Desk, value: Any) -> None:
    await desk.keys().set(NASTY, value)
    await desk.show(USER)
    await desk.until(lambda: desk.viewer.item is not None)
    assert ACTING.findall(shown(desk.app)) == []
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    assert ACTING.findall(shown(desk.app)) == []
    assert ACTING.findall(desk.viewer.typed.replace("\n", "")) == []
    assert desk.viewer.value == value
    assert not desk.viewer.changed


async def test_what_is_pasted_is_written_out(desk: Desk) -> None:
    await desk.keys().set("a", "")
    await desk.show(USER)
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    desk.viewer._editor.insert(NASTY)
    await desk.pilot.pause()
    assert ACTING.findall(shown(desk.app)) == []
    assert ACTING.findall(desk.viewer.typed) == []


async def test_rows_blocks_and_entries_are_drawn_harmlessly(desk: Desk) -> None:
    await desk.memory().store(Draft(key=NASTY, content=NASTY, session=NASTY))
    tenant = await desk.pinfold.core_memory.tenants.of_agent("reviewer")
    await desk.pinfold.core_memory.blocks(tenant).append(Block.PERSONA, NASTY)
    await desk.pinfold.core_memory.archive(tenant).insert(NASTY)
    for place in (AgentRows("reviewer"), CoreBlocksOf(tenant, "reviewer"), ArchiveOf(tenant, "reviewer")):
        await desk.show(place)
        assert ACTING.findall(shown(desk.app)) == []
        assert "[/bold]" in shown(desk.app)


async def test_huge_keys_and_values_are_shown_in_part(desk: Desk) -> None:
    await desk.keys(f"chat:{'i' * 10_000}").set("x" * 10_000, ["y" * 1000] * 1000)
    await desk.screen._reading.read_tree()
    place = next(node.place for node in desk.screen._tree.table.rows if node.label.startswith("iii"))
    await desk.show(place.scope)
    await desk.until_shown("list of 1,000", "xxx", "iii")
    assert len(desk.viewer._body._lines) < 2000
    assert sum(len(span.text) for line in desk.viewer._body._lines for span in line) < 70_000
    assert len(desk.table.row.name) < 400


@pytest.mark.parametrize("value", VALUES, ids=["text", "lines", "list", "object", "emoji"])
def test_what_is_typed_means_what_is_stored(value: Any) -> None:
    import msgspec

    typed = typed_json(msgspec.json.encode(value).decode())
    assert ACTING.findall(typed) == []
    assert read_typed_json(typed) == value
    assert drawable(typed, "json") == typed
    if isinstance(value, str):
        assert read_typed_text(typed_text(value)) == value
        assert drawable(typed_text(value), "text") == typed_text(value)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("the mirror was down", ["the mirror", "was down"]),
        ("0123456789abcdef", ["0123456789", "abcdef"]),
        ("0123456789 abcdef", ["0123456789", "abcdef"]),
        ("日本語日本語日本語", ["日本語日本", "語日本語"]),
    ],
    ids=["words", "no space", "a space at the edge", "wide"],
)
def test_long_lines_break_between_words_where_they_can(line: str, pieces: list[str]) -> None:
    lines = content_lines(Content([line]), 10)
    assert ["".join(span.text for span in drawn) for drawn in lines] == pieces
