"""The screen of agents, on files that change while it is open."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from tests.tui.conftest import screens, shown, until
from tui.app import PinfoldApp
from tui.screens.agents import AgentsScreen
from tui.screens.agents.create import CreateAgent
from tui.screens.sandboxes import SandboxesScreen
from tui.screens.sandboxes.start_form import StartForm


def agents(app: PinfoldApp) -> AgentsScreen:
    assert isinstance(app.screen, AgentsScreen)
    return app.screen


def tab(app: PinfoldApp) -> str:
    return agents(app)._detail.tab


async def until_row(app: PinfoldApp, pilot: Pilot[None], alias: str) -> None:
    await until(lambda: app.store.agent(alias) is not None, pilot)


async def test_a_home_without_agents_says_which_key_makes_the_first(world) -> None:
    async with screens(world) as (app, pilot):
        await until(lambda: "No agents yet" in shown(app), pilot)
        assert "n  make the first one" in shown(app)


async def test_what_is_in_force_is_listed_with_the_file_that_says_so(world) -> None:
    world.agent("worker", "true", sandbox='memory = "64m"\n')
    async with screens(world) as (app, pilot):
        await pilot.press(*["right_square_bracket"] * 3)
        await until(lambda: "output_limit" in shown(app), pilot)
        (memory,) = [line for line in shown(app).splitlines() if "64M" in line]
        assert memory.rstrip().endswith("agent.toml")
        (network,) = [line for line in shown(app).splitlines() if " network " in line]
        assert network.rstrip().endswith("built in")


async def test_a_file_that_breaks_keeps_the_last_good_configuration_and_names_the_line(world) -> None:
    world.agent("worker", "true")
    file = world.home.agent_file("worker")
    async with screens(world) as (app, pilot):
        await until(lambda: "idle" in shown(app), pilot)
        good = file.read_text()
        file.write_text(good + "\nidel_timeout = 3\n")
        line = len(good.splitlines()) + 2
        await until(lambda: f"line {line}" in shown(app), pilot)
        assert "stale: the last good file is in force" in shown(app)
        await pilot.press("p")
        await until(lambda: tab(app) == "source" and "idel_timeout = 3" in shown(app), pilot)
        await until(lambda: "did you mean" in shown(app).lower(), pilot)
        file.write_text(good)
        await until(lambda: "stale" not in shown(app) and "Source 1!" not in shown(app), pilot)


async def test_a_file_that_was_never_good_says_how_to_see_why(world) -> None:
    world.agent("worker", "true")
    world.home.agent_file("worker").write_text("[agent\n")
    async with screens(world) as (app, pilot):
        await until(lambda: "No configuration in force" in shown(app), pilot)
        assert "p  see why" in shown(app)
        await pilot.press("p")
        await until(lambda: "not TOML" in shown(app), pilot)


async def test_hostile_files_act_on_no_terminal_and_are_no_markup(world) -> None:
    world.agent("worker", "true")
    file = world.home.agent_file("worker")
    hostile = '[agent]\ndescription = "[/x] \\u202e [red]no[/]"\n# \x1b]52;c;AA\x07'
    file.write_text(file.read_text().replace("[agent]", hostile))
    async with screens(world) as (app, pilot):
        await until(lambda: "[/x] <202E> [red]no[/]" in shown(app) or "line" in shown(app), pilot)
        await pilot.press(*["right_square_bracket"] * 4)
        await until(lambda: tab(app) == "source", pilot)
        assert "\x1b" not in shown(app)


async def test_disabling_and_enabling_writes_the_file_and_the_row(world) -> None:
    world.agent("worker", "true")
    file = world.home.agent_file("worker")
    async with screens(world) as (app, pilot):
        await until(lambda: "idle" in shown(app), pilot)
        await pilot.press("e")
        await until(lambda: "– off" in shown(app), pilot)
        assert "enabled = false" in file.read_text()
        assert "s start" not in shown(app)
        await pilot.press("e")
        await until(lambda: "○ idle" in shown(app), pilot)
        assert "enabled = true" in file.read_text()


async def test_a_new_agent_is_made_from_a_dialog_and_chosen(world) -> None:
    async with screens(world) as (app, pilot):
        await pilot.press("n")
        await until(lambda: isinstance(app.screen, CreateAgent), pilot)
        app.screen.query_one("#alias", Input).value = "Not An Alias"
        await pilot.press("enter")
        await until(lambda: "cannot be an alias" in shown(app), pilot)
        app.screen.query_one("#alias", Input).value = "fresh"
        app.screen.query_one("#profile", Select).value = "plain"
        await pilot.press("enter")
        await until_row(app, pilot, "fresh")
        await until(lambda: isinstance(app.screen, AgentsScreen) and "fresh" in shown(app), pilot)
        assert 'risk_profile = "plain"' in world.home.agent_file("fresh").read_text()


async def test_agents_that_appear_and_go_on_disk_do_so_on_screen(world) -> None:
    world.agent("one", "true")
    async with screens(world) as (app, pilot):
        world.agent("zebra", "true")
        await until(lambda: "zebra" in shown(app), pilot)
        world.home.agent_file("zebra").unlink()
        (world.home.agent_dir("zebra") / "workspace").rmdir()
        world.home.agent_dir("zebra").rmdir()
        await until(lambda: "zebra" not in shown(app), pilot)


async def test_s_starts_the_agent_under_the_cursor_and_enter_on_a_session_shows_it(world) -> None:
    world.agent("one", "true")
    world.agent("two", "true")
    async with screens(world) as (app, pilot):
        await until(lambda: "two" in shown(app), pilot)
        await pilot.press("j", "s")
        await until(lambda: isinstance(app.screen, StartForm), pilot)
        assert isinstance(app.screen, StartForm)
        assert app.screen.request().agent == "two"
        await until(lambda: "limits" in shown(app), pilot)
        await pilot.press("enter")
        await until(lambda: app.store.sessions, pilot)
        (session,) = app.store.sessions
        await until(lambda: not app.store.sessions[session].live, pilot)
        await pilot.press("1")
        await until(lambda: isinstance(app.screen, AgentsScreen), pilot)
        await pilot.press("left_square_bracket")
        await until(lambda: tab(app) == "sessions" and "exited" in shown(app), pilot)
        await pilot.press("enter", "enter")
        await until(lambda: isinstance(app.screen, SandboxesScreen), pilot)
        await until(lambda: session in shown(app), pilot)


@pytest.mark.parametrize("size", [(50, 12), (80, 24), (200, 60)], ids=["50x12", "80x24", "200x60"])
async def test_any_size_shows_the_agents(world, size) -> None:
    world.agent("worker", "true")
    async with screens(world, size) as (app, pilot):
        await until(lambda: "worker" in shown(app), pilot)
        await pilot.press(*["right_square_bracket"] * 4, "question_mark", "escape")
        await pilot.resize_terminal(50, 12)
        await pilot.resize_terminal(*size)
        await until(lambda: "worker" in shown(app), pilot)
