"""Pictures of editing permissions, compared with those in snapshots/."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from textual.pilot import Pilot

from services.agents import Change
from services.home import Home
from tests.tui.conftest import shown, until
from tests.tui.screens.agents.conftest import agents, drafts
from tests.tui.screens.scene import Scene
from tests.tui.screens.test_pictures import Picture, fixed_surroundings, settled, way_to
from tui.widgets.form import Form

__all__ = ["fixed_surroundings"]

WIDE, MIDDLE, SMALL = (160, 45), (120, 36), (80, 24)
COMMANDS = ("permissions", "allowed_commands")
WIDENED = (
    Change(COMMANDS, ("git", "ls", "cat", "make", "pip")),
    Change(("workspace", "access", "builder"), "read"),
)


@dataclass(frozen=True)
class Editing:
    """What to do on the way to a picture.

    Attributes:
        keys: Pressed once the changes are made and the cursor is on the commands.
        conflict: Somebody else changes the file before the keys.
        awaits: A text that is on the screen when all is drawn.
    """

    name: str
    size: tuple[int, int]
    theme: str
    awaits: str
    changes: tuple[Change, ...] = WIDENED
    keys: tuple[str, ...] = ()
    conflict: bool = False


DARK, LIGHT = "pinfold-dark", "pinfold-light"
TRIED = ("t", *"~/.ssh/id_rsa")

PICTURES = [
    Editing("permissions-160x45-dark", WIDE, DARK, "⚠ widens"),
    Editing("permissions-80x24-light", SMALL, LIGHT, "⚠ widens"),
    Editing("permissions-terminal", MIDDLE, "terminal", "⚠ widens"),
    Editing("permissions-problem", MIDDLE, DARK, "must be the name", keys=(*["j"] * 12, "plus", *"9LIVES")),
    Editing("effective-160x45-light", WIDE, LIGHT, "/siblings/researcher", (), TRIED),
    Editing("effective-80x24-dark", SMALL, DARK, "decided by", (), TRIED),
    Editing("save-dialog-dark", MIDDLE, DARK, "Allow and save", keys=("ctrl+s",)),
    Editing("save-dialog-80x24-light", SMALL, LIGHT, "Allow and save", keys=("ctrl+s",)),
    Editing("profile-preview", MIDDLE, DARK, "⚠ widens", (), ("g", "enter", "j", "j")),
    Editing("conflict-80x24-light", SMALL, LIGHT, "changed on both sides", keys=("c",), conflict=True),
]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture, tmp_path, snap_compare) -> None:
    scene = Scene(Home(tmp_path / ".pinfold"))
    scene.write()
    scene.app.animation_level = "none"
    try:
        assert snap_compare(scene.app, terminal_size=picture.size, run_before=editing(picture, scene))
    finally:
        scene.close()


def editing(picture: Editing, scene: Scene) -> Callable[[Pilot[None]], Awaitable[None]]:
    app = scene.app
    begin = way_to(Picture("", picture.size, picture.theme, ("1", "G", "enter"), ("reviewer",)), scene)

    async def go(pilot: Pilot[None]) -> None:
        await begin(pilot)
        await until(lambda: drafts(app).of("reviewer").sheet is not None, pilot)
        await drafts(app).change("reviewer", lambda _: picture.changes)
        agents(app).query_one(Form).go_to(".".join(COMMANDS), 4)
        if picture.conflict:
            change_file(scene)
            await drafts(app).look("reviewer")
        await pilot.press(*picture.keys)
        await until(lambda: picture.awaits in shown(app) and settled(app), pilot)
        await pilot.pause()

    return go


def change_file(scene: Scene) -> None:
    """Change what the draft changed too, and something else."""
    file = scene.home.agent_file("reviewer")
    text = file.read_text()
    file.write_text(text.replace('"cat", "make"', '"cat", "cargo"').replace('memory = "2g"', 'memory = "4g"'))
