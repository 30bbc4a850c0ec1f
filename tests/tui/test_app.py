"""The app as a whole: what it says of errors, and how it treats a real terminal."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import sys
from collections.abc import Callable

import pytest

from services.errors import PinfoldError
from services.home import Home
from tests.support.sessions import started
from tests.support.terminal import Terminal, control_shapes, strange_controls
from tests.tui.conftest import screens, shown, until
from tui.screens.memory import MemoryScreen

FOREVER = "trap 'exit 0' INT TERM; while :; do sleep 0.1; done"


def pinfold(home: Home, **options) -> Terminal:
    command = [sys.executable, "-c", "from tui.cli import main; main()", "--home", str(home.root)]
    environment = {"DOCKER_HOST": "unix:///nowhere/docker.sock"} | options.pop("environment", {})
    return Terminal(command, environment=environment, **options)


async def waiting(call: Callable[..., object], *args):
    return await asyncio.to_thread(call, *args)


# errors


async def test_a_refusal_is_a_toast_with_reason_and_remedy(world) -> None:
    async with screens(world) as (app, pilot):
        app.report(PinfoldError("cannot do it", why="the moon is [/full]", fix="Wait \x1b[2J."))
        await until(lambda: "cannot do it" in shown(app), pilot)
        assert "The moon is [/full]. Wait ." in shown(app)


async def test_an_error_nobody_expected_is_one_line_and_its_traceback_is_in_the_log(world, caplog) -> None:
    async def fails() -> None:
        secret = "hunter2"
        raise ValueError(f"not {len(secret)}")

    async with screens(world) as (app, pilot):
        with caplog.at_level(logging.ERROR):
            app.begin(app, "test", fails)
            await until(lambda: "Something in Pinfold itself went wrong" in shown(app), pilot)
        assert "ValueError; the details are in state/pinfold.log" in shown(app)
        assert "Traceback" not in shown(app)
        (record,) = caplog.records
        assert record.exc_info is not None
        assert "hunter2" not in logging.Formatter().format(record)
        await pilot.press("2")
        await until(lambda: isinstance(app.screen, MemoryScreen), pilot)


def test_a_fault_while_drawing_ends_the_screens_with_one_line_and_the_terminal_as_before(tmp_path) -> None:
    code = (
        "import sys; from pathlib import Path; from services.home import Home;"
        "from tui.app import PinfoldApp; from tui.run import run;"
        "PinfoldApp.on_ready = lambda self: 1 / 0; sys.exit(run(Home(Path(sys.argv[1]))))"
    )
    with Terminal([sys.executable, "-c", code, str(tmp_path)]) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "the screens had to end because of a fault" in terminal.text()
        assert "Traceback" not in terminal.text()
        assert terminal.modes_left_on() <= {7, 25}
        assert terminal.is_echoing()


def test_a_home_that_cannot_be_opened_is_explained_after_the_screens(tmp_path) -> None:
    home = Home(tmp_path / "home")
    home.database_file.mkdir(parents=True)
    home.agents_dir.mkdir()
    with pinfold(home) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "it cannot be opened" in terminal.text()
        assert "Traceback" not in terminal.text()
        assert terminal.is_echoing()


def test_a_damaged_database_is_set_aside_and_told(tmp_path) -> None:
    home = Home(tmp_path / "home")
    home.state_dir.mkdir(parents=True)
    home.agents_dir.mkdir()
    home.database_file.write_bytes(b"not a database at all, but long enough to look like one" * 40)
    with pinfold(home) as terminal:
        terminal.wait_for("the database was damaged")
        (aside,) = home.state_dir.glob("pinfold.db.damaged-*")
        assert aside.read_bytes().startswith(b"not a database")


# the terminal


@pytest.mark.parametrize(
    ("way", "status"), [("q", 0), ("ctrl+q", 0), (signal.SIGTERM, 128 + signal.SIGTERM)], ids=["q", "ctrl+q", "sigterm"]
)
async def test_every_way_out_leaves_the_terminal_as_it_was_and_tells_by_its_status(world, way, status) -> None:
    world.agent("worker", FOREVER)
    with pinfold(world.home) as terminal:
        await waiting(terminal.wait_for, "worker")
        if isinstance(way, str):
            terminal.press(way)
        else:
            terminal.process.send_signal(way)
        assert await waiting(terminal.wait_for_exit) == status
        assert terminal.modes_left_on() <= {7, 25}
        assert terminal.is_echoing()


async def test_closing_leaves_sessions_running_and_opening_finds_them_again(world) -> None:
    world.agent("worker", FOREVER)
    async with world.pinfold() as outside:
        session = await started(outside)
        with pinfold(world.home, columns=120) as terminal:
            await waiting(terminal.wait_for, "1 running")
            terminal.press("q")
            await waiting(terminal.wait_for_exit)
        assert (await outside.sandboxes.session(session.id)).state.value == "running"


async def test_what_another_pinfold_does_shows_within_moments(world) -> None:
    world.agent("worker", FOREVER)
    async with screens(world) as (app, pilot), world.pinfold(supervise=False) as other:
        session = await started(other)
        await until(lambda: session.id in app.store.sessions, pilot)
        await other.sandboxes.kill(session.id)
        await until(lambda: not app.store.sessions[session.id].live, pilot)


async def test_a_shell_takes_the_terminal_and_gives_it_back(world) -> None:
    world.agent("worker", FOREVER)
    async with world.pinfold() as outside:
        await started(outside)
        with pinfold(world.home, columns=120) as terminal:
            await waiting(terminal.wait_for, "1 running")
            terminal.press("3")
            await waiting(terminal.wait_for, "! shell")
            terminal.press("!")
            await waiting(terminal.wait_for, "its exit brings you back")
            terminal.send("echo $((20 + 3))-here\r")
            await waiting(terminal.wait_for, "23-here")
            terminal.send("exit\r")
            await waiting(terminal.wait_for, "Sessions 1")
            terminal.send("?")
            await waiting(terminal.wait_for, "Help")


async def test_the_smallest_terminal_and_back(world) -> None:
    world.agent("worker", FOREVER)
    with pinfold(world.home, columns=160, rows=45) as terminal:
        await waiting(terminal.wait_for, "Everything else")
        terminal.resize(50, 12)
        await waiting(
            terminal.wait_until, lambda: "worker" in terminal.text() and "Everything else" not in terminal.text()
        )
        terminal.resize(160, 45)
        await waiting(terminal.wait_for, "Everything else")


async def test_no_colour_means_none_at_all(world) -> None:
    world.agent("worker", FOREVER)
    with pinfold(world.home, environment={"NO_COLOR": "1"}) as terminal:
        await waiting(terminal.wait_for, "worker")
        terminal.press("3", "1")
        await waiting(terminal.wait_until_quiet)
        codes = {code for sgr in re.findall(rb"\x1b\[([0-9;]*)m", terminal.output) for code in sgr.split(b";") if code}
        colours = {code for code in codes if re.fullmatch(rb"3[0-8]|4[0-8]|9[0-7]|10[0-7]", code)}
        assert colours == set()


async def test_a_terminal_without_unicode_gets_only_ascii(world) -> None:
    world.agent("worker", FOREVER, rest="")
    with pinfold(world.home, environment={"LANG": "C", "LC_ALL": "C"}) as terminal:
        await waiting(terminal.wait_for, "worker")
        terminal.press("3")
        await waiting(terminal.wait_for, "No sessions yet")
        assert terminal.output.isascii()


async def test_hostile_agents_reach_the_terminal_only_as_text(world) -> None:
    world.agent("worker", FOREVER)
    file = world.home.agent_file("worker")
    hostile = "\\u001b]52;c;UEVFUlM=\\u0007\\u001b[2J\\u009b31m\\u001b]0;title\\u0007[/x]"
    text = file.read_text().replace("[agent]", f'[agent]\ndescription = "{hostile}"')
    file.write_text(text + "\n# \x1b]52;c;UEVFUlM=\x07 \x9b31m\n")
    with Terminal([sys.executable, "-m", "benchmarks.empty_app"]) as empty:
        await waiting(empty.wait_for, "Agents")
        known = frozenset(control_shapes(empty.output))
    with pinfold(world.home, columns=160) as terminal:
        await waiting(terminal.wait_for, "worker")
        terminal.send("]]]]")
        await waiting(terminal.wait_for, "risk_profile =")
        assert strange_controls(terminal.output, known) == []
