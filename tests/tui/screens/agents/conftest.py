"""A home whose agents can be edited on screen, with comments that must outlive it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input

from services.home import Home
from tests.support.sessions import World, cleaned_up
from tests.tui.conftest import screens, shown, until
from tui.app import PinfoldApp
from tui.screens.agents import AgentsScreen
from tui.widgets.form import Form

SHARED = """\
[risk_profiles.plain]
allow_unconfined = true

[risk_profiles.hardened]
allowed_commands = ["git", "ls"]
forbidden_paths = ["~/.ssh"]

[risk_profiles.wild]
level = "full"
workspace_only = false
allowed_commands = ["*"]
"""

WORKER = """\
# What the worker may do, and why.
[agent]
risk_profile = "hardened"
enabled = true

[permissions]
allowed_commands = ["git", "make"]  # make builds it
excluded_tools = ["browser"]

[workspace.access]
helper = "read"   # for its notes

[sandbox]
engine = "local"
runner = "command"
command = ["sh", "-c", "true"]
"""


@pytest.fixture
def edited(world: World) -> World:
    """A world with the agents `worker` and `helper`."""
    furnish(world)
    return world


def furnish(world: World) -> None:
    """Write the agents `worker` and `helper`, and their profiles."""
    for alias in ("helper", "worker"):
        world.agent(alias, "true")
    put_back(world.home)


def put_back(home: Home) -> None:
    """Write what tests change as it was."""
    home.config_file.write_text(SHARED)
    home.agent_file("worker").write_text(WORKER)


class Editor(NamedTuple):
    """The app with the cursor in the form of the agent `worker`."""

    app: PinfoldApp
    pilot: Pilot[None]
    form: Any
    home: Home


@pytest.fixture(scope="module")
async def opened(tmp_path_factory) -> AsyncIterator[Editor]:
    """One app for all tests of a module: to start it takes longer than what most of them do."""
    world = World(Home(tmp_path_factory.mktemp("editor") / "home"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.env.items():
            patch.setenv(name, value)
        furnish(world)
        async with cleaned_up(world), form_of(world) as (app, pilot, form):
            yield Editor(app, pilot, form, world.home)


@pytest.fixture
async def editor(opened: Editor) -> Editor:
    """The app with the files as they were and nothing changed or typed."""
    app, pilot, form, home = opened
    while isinstance(app.screen, ModalScreen):
        app.pop_screen()
    put_back(home)
    form.stop_asking()
    drafts(app).keep_typing("worker", None)
    await app.pinfold.agents.load()
    await drafts(app).discard("worker")
    await pilot.press("1")
    agents(app).show_agent("worker")
    agents(app)._detail.turn_to("permissions")
    await until(lambda: app.store.configured("worker") == app.pinfold.agents.get("worker") and settled(app), pilot)
    app.clear_notifications()
    form.focus()
    form.go_to(form.rows[0].key)
    await until(lambda: form.has_focus and not app._notifications and not drafts(app).open, pilot)
    return opened


@asynccontextmanager
async def form_of(
    world: World, alias: str = "worker", size: tuple[int, int] = (160, 45)
) -> AsyncIterator[tuple[PinfoldApp, Pilot[None], Any]]:
    """The app with the cursor in the form of one agent."""
    async with screens(world, size) as (app, pilot):
        await until(lambda: app.store.agent(alias) is not None, pilot)
        agents(app).show_agent(alias)
        await until(lambda: agents(app)._detail.editor is not None and drafts(app).of(alias).sheet is not None, pilot)
        form: Any = agents(app).query_one(Form)
        await until(lambda: form.rows, pilot)
        await pilot.press("enter")
        await until(lambda: form.has_focus, pilot)
        yield app, pilot, form


def agents(app: PinfoldApp) -> AgentsScreen:
    """The screen of agents, whichever is shown."""
    (found,) = [screen for screen in app.screen_stack if isinstance(screen, AgentsScreen)]
    return found


def drafts(app: PinfoldApp) -> Any:
    """The drafts of the screen of agents."""
    return agents(app)._drafts


async def until_shown(app: PinfoldApp, pilot: Pilot[None], text: str) -> None:
    """Wait until a text is on the screen."""
    await until(lambda: text in shown(app), pilot)


def line_of(app: PinfoldApp, label: str) -> str:
    """The line of the form with a label."""
    return next((line for line in shown(app).splitlines() if label in line), "")


async def type_in(pilot: Pilot[None], text: str) -> None:
    """Put all but the last character into the line that has the focus, and press the key of that one."""
    line = pilot.app.focused
    assert isinstance(line, Input)
    line.insert_text_at_cursor(text[:-1])
    await pilot.press({" ": "space"}.get(text[-1], text[-1]))


async def add_entry(app: PinfoldApp, pilot: Pilot[None], form: Any, key: str, text: str) -> None:
    """Add an entry to a list by keys, and wait until the draft has it."""
    before = drafts(app).of("worker").draft
    form.go_to(key)
    await pilot.press("plus")
    await until(lambda: form.asking, pilot)
    await type_in(pilot, text)
    await pilot.press("enter")
    await until(lambda: not form.asking and drafts(app).of("worker").draft is not before, pilot)


def settled(app: PinfoldApp) -> bool:
    """Whether no edit is under way."""
    return not [worker for worker in app.workers if not worker.is_finished and worker.group in ("edit", "trial")]
