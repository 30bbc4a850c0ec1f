"""What other processes change appears within a second, and moves neither cursor nor scroll."""

from __future__ import annotations

import asyncio
import sys

from services.memory import Draft
from tests.conftest import ROOT
from tests.tui.conftest import shown
from tests.tui.screens.memory.conftest import USER, Desk
from tui.screens.memory.places import AgentRows

CHANGE = """
import asyncio, sys
from pathlib import Path
from services.home import Home
from services.memory import Draft, Scope
from services.pinfold import Pinfold

async def change(root):
    async with Pinfold.open(Home(Path(root)), supervise=False, engines={}) as pinfold:
        keys = pinfold.memory.namespace(Scope.parse("user:42"))
        await keys.set_many({f"earlier-{number}": number for number in range(5)})
        await keys.set("key-050", "changed elsewhere")
        await pinfold.agent_memories.of("reviewer").store(Draft(key="style", content="stored elsewhere"))

asyncio.run(change(sys.argv[1]))
"""


async def test_another_process_changes_keys_and_rows(desk: Desk) -> None:
    await desk.keys().set_many({f"key-{number:03}": number for number in range(100)})
    await desk.show(USER, "key-050", rows=100)
    before = (desk.item, desk.table.cursor_place - desk.table.scroll_offset.y)
    assert desk.table.scroll_offset.y > 0
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", CHANGE, str(desk.home.root), cwd=ROOT)
    await desk.until_shown("changed elsewhere")
    assert (desk.item, desk.table.cursor_place - desk.table.scroll_offset.y) == before
    assert desk.table.total == 105
    assert await process.wait() == 0
    await desk.until_shown("105")
    await desk.show(AgentRows("reviewer"))
    await desk.until_shown("stored elsewhere")


async def test_a_key_whose_time_is_up_goes_by_itself_and_time_counts_down(desk: Desk) -> None:
    await desk.keys().set("soon", 1, ttl=1.5)
    await desk.keys().set("later", 1, ttl=3600)
    await desk.show(USER, rows=2)
    await desk.until_shown("59m5")
    await desk.until(lambda: desk.table.total == 1)
    assert "soon" not in shown(desk.app)


async def test_a_memory_kept_in_files_is_followed_too(desk: Desk) -> None:
    await desk.show(AgentRows("keeper"), rows=0)
    await desk.memory("keeper").store(Draft(key="note", content="from a file"))
    await desk.until_shown("from a file")
