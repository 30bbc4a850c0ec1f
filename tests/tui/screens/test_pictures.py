"""Pictures of the screens, compared with those in snapshots/."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from services.home import Home
from tests.tui.conftest import shown, until
from tests.tui.screens.scene import Scene
from tui.screens.sandboxes import SandboxesScreen

WIDE, SMALL = (160, 45), (80, 24)


@dataclass(frozen=True)
class Picture:
    """What to do on the way to a picture.

    Attributes:
        awaits: Texts that are on the screen when all is drawn.
        empty: Take it of a home without agents and sessions.
    """

    name: str
    size: tuple[int, int]
    theme: str
    keys: tuple[str, ...]
    awaits: tuple[str, ...]
    empty: bool = field(default=False)


PICTURES = [
    *(
        Picture(f"{screen}-{columns}x{rows}-{theme}", (columns, rows), f"pinfold-{theme}", keys, awaits)
        for screen, keys, awaits in (
            ("agents", ("1", "G"), ("reviewer", "Profile")),
            ("sandboxes", ("3", "j", "j"), ("2 failed",)),
        )
        for columns, rows in (WIDE, SMALL)
        for theme in ("dark", "light")
    ),
    Picture("agents-problem", (120, 30), "pinfold-dark", ("1", "p"), ("idel_timeout", "Did you mean")),
    Picture("sandboxes-two-panes", (200, 60), "pinfold-dark", ("3", "j", "j", "o", "j"), ("2 failed", "batch 214")),
    Picture("start-form", (120, 36), "pinfold-dark", ("1", "G", "s"), ("Start a session", "2.0G memory")),
    Picture("remove-dialog", (120, 36), "pinfold-dark", ("3", "asterisk", "D"), ("Remove 8 sessions?",)),
    Picture("help", (120, 45), "pinfold-light", ("3", "question_mark"), ("SCREEN 3",)),
    Picture("commands", (120, 36), "pinfold-dark", ("3", "ctrl+p"), ("session: start",)),
    Picture("activity", (120, 36), "pinfold-dark", ("3", "a"), ("session.terminate",)),
    Picture("sandboxes-contrast", (120, 36), "pinfold-contrast", ("3", "j", "j"), ("2 failed",)),
    Picture("sandboxes-terminal", (120, 36), "terminal", ("3", "j", "j"), ("2 failed",)),
    Picture("no-agents", SMALL, "pinfold-dark", ("1",), ("No agents yet",), empty=True),
    Picture("no-sessions", SMALL, "pinfold-dark", ("3",), ("No sessions yet",), empty=True),
]


@pytest.fixture(autouse=True)
def fixed_surroundings(monkeypatch, tmp_path):
    for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "PINFOLD_ASCII"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(Input, "cursor_blink", False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_picture(picture, tmp_path, snap_compare) -> None:
    scene = Scene(Home(tmp_path / ".pinfold"))
    scene.write()
    scene.app.animation_level = "none"
    try:
        assert snap_compare(scene.app, terminal_size=picture.size, run_before=way_to(picture, scene))
    finally:
        scene.close()


def way_to(picture: Picture, scene: Scene) -> Callable[[Pilot[None]], Awaitable[None]]:
    async def go(pilot: Pilot[None]) -> None:
        app = scene.app
        app.theme = picture.theme
        if picture.empty:
            app.store.await_("", 0.0)
        else:
            await scene.fill()
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause()
            if isinstance(app.screen, SandboxesScreen):
                app.screen._usage._histories |= scene.histories()
        await until(lambda: all(text in shown(app) for text in picture.awaits), pilot)
        await until(lambda: settled(app), pilot)
        if isinstance(app.screen, SandboxesScreen):
            app.screen._tick()
        await pilot.pause()

    return go


def settled(app) -> bool:
    """Whether nothing is under way but what goes on for ever."""
    endless = {"usage", "themes", "follow", "archive list"}
    return not [worker for worker in app.workers if not worker.is_finished and worker.group not in endless]
