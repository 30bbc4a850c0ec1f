"""A home with an agent that has something to lose, and the way to its archive from the screens alone."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Button

from services.memory import Draft
from tests.support.sessions import World, ran
from tests.tui.conftest import shown, until
from tui.app import PinfoldApp
from tui.screens.archives import ArchivesScreen
from tui.screens.operations.planning import PlanDialog

LEAD = """\
# Who does what.
[agent]
risk_profile = "plain"
delegates = [{ agent = "worker", mode = "bounded" }]  # the worker builds

[workspace.access]
worker = "read"  # for its notes

[memory]
read_memory_from = ["worker"]

[sandbox]
engine = "local"
runner = "command"
command = ["sh", "-c", "true"]
"""

EVIL = "\x1b[2J\x1b]0;gone\x07\u202e"
"""Text that would act on a terminal."""


@pytest.fixture
async def staffed(world: World) -> World:
    """A world with `lead`, who names `worker`, and with all that a worker can have."""
    world.agent("lead", "true")
    world.home.agent_file("lead").write_text(LEAD)
    world.agent("worker", "printf 'built it\\n'")
    workspace = world.home.agent_dir("worker") / "workspace"
    (workspace / "src").mkdir()
    (workspace / "src" / "app.py").write_text("print('hello from the worker')\n")
    (workspace / "notes.md").write_text(f"# Notes{EVIL}\nremember the milk\n")
    (workspace / f"odd{EVIL}name").write_text("odd")
    (workspace / "picture.bin").write_bytes(bytes(range(256)))
    async with world.pinfold() as pinfold:
        memory = pinfold.agent_memories.of("worker")
        for number in range(3):
            await memory.store(Draft(key=f"fact{number}", content=f"the sky is blue {number}{EVIL}"))
        await ran(pinfold, "worker")
    return world


def archives(app: PinfoldApp) -> ArchivesScreen:
    """The screen of archives, which is shown."""
    assert isinstance(app.screen, ArchivesScreen)
    return app.screen


async def open_agents(app: PinfoldApp, pilot: Pilot[None], alias: str) -> None:
    """Show the screen of agents with the cursor on one."""
    await until(lambda: app.store.agent(alias) is not None, pilot)
    app.show_agent(alias)
    await until(lambda: app.screen.subject()[0] == alias, pilot)  # type: ignore[attr-defined]


async def agree(app: PinfoldApp, pilot: Pilot[None]) -> None:
    """Wait for a plan that is allowed, and carry it out."""
    await until(lambda: isinstance(app.screen, PlanDialog) and not app.screen.query_one("#yes").disabled, pilot)
    app.screen.query_one("#yes", Button).press()


async def delete(app: PinfoldApp, pilot: Pilot[None], alias: str = "worker") -> None:
    """Delete an agent by keys."""
    await open_agents(app, pilot, alias)
    await pilot.press("D")
    await agree(app, pilot)
    await until(lambda: app.store.agent(alias) is None and not isinstance(app.screen, ModalScreen), pilot)


async def open_archives(app: PinfoldApp, pilot: Pilot[None], alias: str = "worker") -> ArchivesScreen:
    """Show the screen of archives with the archive of an agent opened."""
    await pilot.press("4")
    await until(lambda: isinstance(app.screen, ArchivesScreen), pilot)
    screen = archives(app)
    await until(lambda: screen.entry is not None and screen.entry.alias == alias, pilot)
    await until(lambda: screen._reading.archive is not None, pilot)
    return screen


async def until_shown(app: PinfoldApp, pilot: Pilot[None], *texts: str) -> None:
    """Wait until all of some texts are on the screen."""
    await until(lambda: all(text in shown(app) for text in texts), pilot)
