"""A demo home for the screens, and how tests wait for them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.app import App
from textual.pilot import Pilot

from services.agents.init import init_home
from services.home import BlockingCalls, Home
from tests.support.sessions import World, cleaned_up
from tui.app import PinfoldApp

PATIENCE_SECONDS = 20.0


async def until(condition: Callable[[], object], pilot: Pilot[None]) -> None:
    """Let the screens go on until a condition holds; fails when it does not for too long."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS:g} s in vain; the screen:\n{shown(pilot.app)}"
        await pilot.pause(0.02)


@pytest.fixture
async def demo_home(tmp_path) -> Home:
    """A home with the demo's agents, whose sandboxes run on this machine."""
    home = Home(tmp_path / "home")
    calls = BlockingCalls()
    await init_home(home, demo=True, calls=calls)
    calls.close()
    return home


@pytest.fixture
async def world(tmp_path, monkeypatch) -> AsyncIterator[World]:
    """A home whose agents run on this machine; no Docker answers."""
    world = World(Home(tmp_path / "home"))
    for name, value in world.env.items():
        monkeypatch.setenv(name, value)
    async with cleaned_up(world):
        yield world


@asynccontextmanager
async def screens(world: World, size: tuple[int, int] = (160, 45)) -> AsyncIterator[tuple[PinfoldApp, Pilot[None]]]:
    """The app on a world, its rows there."""
    app = PinfoldApp(world.home)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(lambda: app.store.ready, pilot)
        yield app, pilot


def shown(app: App[None]) -> str:
    """Everything on the screen, line by line."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width].rstrip() for strip in strips[:height])
