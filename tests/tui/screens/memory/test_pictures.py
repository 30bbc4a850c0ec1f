"""Pictures of the screen of memory, compared with those in snapshots/."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from services.home import BlockingCalls, Database, Home
from services.memory import AgentMemories, Block, CoreMemory, Draft, Memory, Scope
from tests.tui.conftest import shown, until
from tests.tui.screens.scene import NOW, SECOND, Scene
from tests.tui.screens.test_pictures import fixed_surroundings
from tui.screens.memory.places import AgentRows, Place, ScopeKeys

__all__ = ["fixed_surroundings"]

WIDE, SMALL, MIDDLE = (160, 45), (80, 24), (120, 36)
USER = ScopeKeys(Scope.parse("user:42"))
ROWS = AgentRows("reviewer")


@dataclass(frozen=True)
class Picture:
    """What to show and do on the way to a picture.

    Attributes:
        awaits: Texts that are on the screen when all is drawn.
    """

    name: str
    size: tuple[int, int]
    theme: str
    place: Place
    item: str
    keys: tuple[str, ...]
    awaits: tuple[str, ...]


PICTURES = [
    Picture("keys-160x45-dark", WIDE, "dark", USER, "prefs", (), ("editor", "15m0")),
    Picture("keys-80x24-light", SMALL, "light", USER, "prefs", (), ("editor",)),
    Picture("rows-160x45-light", WIDE, "light", ROWS, "token", ("asterisk",), ("••••[api_key]", "5 marked")),
    Picture("editing-80x24-dark", SMALL, "dark", USER, "prefs", ("e", "end", "x"), ("line 1, column 2",)),
    Picture("operations-terminal", MIDDLE, "terminal", USER, "tags", ("o",), ("add to set",)),
]


class Remembered:
    """A home with something in its memory, at the moment of the scene.

    Args:
        home: Where the database is made.
    """

    def __init__(self, home: Home) -> None:
        self.scene = Scene(home)
        self.scene.write()
        self.database = Database(home.database_file)
        self._home = home
        self._now = NOW

    async def fill(self) -> None:
        """Open the services and store what is shown."""
        await self.database.open()
        await self.scene.fill()
        services: Any = self.scene.app._pinfold
        calls: BlockingCalls = services.calls
        ids = count(1)
        make_id: Callable[[], str] = lambda: f"{next(ids):032x}"  # noqa: E731
        now: Callable[[], int] = lambda: self._now  # noqa: E731
        services.database, services.now = self.database, now
        services.memory = Memory(self._home, self.database, calls, now, make_id)
        services.agent_memories = AgentMemories(self._home, services.agents, self.database, calls, now, make_id)
        services.core_memory = CoreMemory(self.database, now, make_id)
        self._now = NOW - 95 * SECOND
        keys = services.memory.namespace(USER.scope)
        await keys.set("prefs", {"editor": "vim", "languages": ["en", "de"], "tabs": 4, "theme": "dark"})
        await keys.set("draft", "Dear all,\nthe release is on Friday.", ttl=1000)
        await keys.set("token", {"service": "forge", "token": "ghp_" + "k" * 36})
        await keys.push("tags", "parser", "release", "docs")
        await keys.set_many({"visits": 17, "seen:intro": True})
        await services.memory.namespace(Scope.parse("team:core")).set("motto", "small steps")
        for number in range(3):
            chat = services.memory.namespace(Scope.parse(f"chat:{1200 + number}"))
            await chat.set_many({f"turn-{turn:03}": "…" for turn in range(40 * (number + 1))})
        memory = services.agent_memories.of("reviewer")
        for key, content, category, pinned in (
            ("style", "The operator wants short answers with the file and line.", "core", True),
            ("tabs", "Uses tabs.", "core", False),
            ("token", f"The forge's token is ghp_{'k' * 36}", "core", False),
            ("monday", "Reviewed #481; the writer lost comments after arrays.", "daily", False),
            ("asked", "Asked whether to keep the old parser. Yes, until the release.", "conversation", False),
        ):
            self._now += 7 * SECOND
            await memory.store(Draft(key=key, content=content, category=category, pinned=pinned, session="261130-r4v"))
        await memory.supersede("tabs", "style")
        tenant = await services.core_memory.tenants.of_agent("reviewer")
        await services.core_memory.blocks(tenant).append(Block.PERSONA, "Reviews as a colleague would.")
        await services.core_memory.archive(tenant).insert("The build needs make 4.3.")
        self._now = NOW

    def close(self) -> None:
        """Let go of threads and files."""
        self.scene.close()
        asyncio.run(self.database.close())


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture: Picture, tmp_path: Path, snap_compare) -> None:
    remembered = Remembered(Home(tmp_path / ".pinfold"))
    app = remembered.scene.app
    app.animation_level = "none"
    try:
        assert snap_compare(app, terminal_size=picture.size, run_before=way_to(picture, remembered))
    finally:
        remembered.close()


def way_to(picture: Picture, remembered: Remembered) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def go(pilot: Pilot[None]) -> None:
        app: Any = remembered.scene.app
        app.theme = "terminal" if picture.theme == "terminal" else f"pinfold-{picture.theme}"
        await remembered.fill()
        await pilot.press("2")
        await until(lambda: hasattr(app.screen, "_tree") and app.screen._tree.table.total, pilot)
        screen = app.screen
        screen._reading.open.add("agent\0reviewer")
        await screen._reading.read_tree()
        node = next(node for node in screen._tree.table.rows if node.place == picture.place)
        screen._tree.table.move_to(node.key)
        screen.show_place(picture.place, picture.item)
        screen._listing.table.focus()
        await until(lambda: row_of(screen) == picture.item and screen._viewer.item is not None, pilot)
        await until(lambda: screen._viewer.item.id == picture.item, pilot)
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(0.1)
            if key == "e":
                await until(lambda: screen._viewer._editor is not None and screen._viewer._editor.has_focus, pilot)
        await until(lambda: all(text in shown(app) for text in picture.awaits), pilot)
        await pilot.pause()

    return go


def row_of(screen: Any) -> str:
    row = screen._listing.table.row
    return row.id if row is not None else ""
