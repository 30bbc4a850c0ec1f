"""A demo home for the screens, and how tests wait for them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from services.agents.init import init_home
from services.home import BlockingCalls, Home

PATIENCE_SECONDS = 20.0


async def until(condition: Callable[[], object], pilot: Pilot) -> None:
    """Let the screens go on until a condition holds; fails when it does not for too long."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS:g} s in vain"
        await pilot.pause(0.02)


@pytest.fixture
async def demo_home(tmp_path) -> Home:
    """A home with the demo's agents, whose sandboxes run on this machine."""
    home = Home(tmp_path / "home")
    calls = BlockingCalls()
    await init_home(home, demo=True, calls=calls)
    calls.close()
    return home
