"""An MCP client in a container stores what its operator sees on screen and corrects; the next session reads that."""

from __future__ import annotations

import json
import time

import pytest

from services.memory import Row
from tests.engine.tools.clients import ClientWorld, answers, command_of, spoken
from tests.support.sessions import ended, started
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import Desk, desk_on
from tui.screens.memory.editing.saving import SaveChange
from tui.screens.memory.places import AgentRows

SECOND = 10**9
PATIENCE_SECONDS = 90
STORED = {
    "indent": "the operator likes tabs",
    "quotes": "the operator likes single quotes",
    "width": "the operator likes 80 columns",
}


async def test_a_preference_is_seen_within_a_second_corrected_and_read_by_the_next_session(
    world: ClientWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    world.caller()
    stores = [("memory_store", {"key": key, "content": content}) for key, content in STORED.items()]
    async with desk_on(world) as desk:
        await desk.show(AgentRows("worker"), rows=0)
        first = await started(desk.pinfold, command=command_of("http", *stores))
        seen = await first_seen(desk)
        rows = [await row_of(desk, key) for key in STORED]
        assert {row.session for row in rows} == {first.id}
        assert min(seen[row.key] - row.updated_at for row in rows) < SECOND  # a busy machine may hold up one or two

        await correct(desk, "indent", "the operator likes four spaces")
        assert (await ended(desk.pinfold, first.id)).exit_code == 0
        assert (await row_of(desk, "indent")).session == first.id

        documents = await answers(desk.pinfold, "stdio", ("memory_recall", {"query": "spaces tabs"}))
        ((failed, text),) = spoken(documents)
        assert not failed
        assert [found["content"] for found in json.loads(text)["memories"]] == ["the operator likes four spaces"]
        assert documents[0] == {"interfaces": ["lo"]}


async def first_seen(desk: Desk) -> dict[str, int]:
    """When each was on the screen first, in nanoseconds since 1970."""
    seen: dict[str, int] = {}
    until = time.monotonic() + PATIENCE_SECONDS
    while len(seen) < len(STORED):
        assert time.monotonic() < until, shown(desk.app)
        text, now = shown(desk.app), time.time_ns()
        seen = {key: now for key, content in STORED.items() if content in text} | seen
        await desk.pilot.pause(0.02)
    return seen


async def row_of(desk: Desk, key: str) -> Row:
    row = await desk.memory("worker").get(key)
    assert row is not None
    return row


async def correct(desk: Desk, key: str, content: str) -> None:
    """Edit a memory as an operator does."""
    await desk.show(AgentRows("worker"), key)
    await desk.press("e")
    await desk.until(lambda: desk.viewer.draft is not None and desk.viewer._editor.has_focus)
    desk.viewer._editor.show_instead(content, desk.viewer.form)
    await desk.pilot.pause()
    await desk.press("ctrl+s")
    await desk.until(lambda: isinstance(desk.app.screen, SaveChange))
    await desk.press("enter")
    await desk.until_closed()
    await desk.until_shown(content)
    assert (await row_of(desk, key)).content == content
