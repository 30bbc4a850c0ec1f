"""The screen of sandboxes, on sessions that run for real on this machine."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Input

from services.output import SpoolReader
from services.sandbox import Orphan, Sandboxes
from tests.support.sessions import echo_lines
from tests.tui.conftest import screens, shown, until
from tui.app import PinfoldApp
from tui.screens.dialog import Confirm
from tui.screens.sandboxes import SandboxesScreen
from tui.screens.sandboxes.ending import question
from tui.screens.sandboxes.panes import OutputPane
from tui.screens.sandboxes.start_form import StartForm
from tui.states import state_word
from tui.store import SessionRow
from tui.widgets.activity_drawer import ActivityDrawer
from tui.widgets.log_pane import LogPane

FOREVER = "trap 'exit 0' INT TERM; echo ready; while :; do sleep 0.1; done"
DEAF = "trap '' INT TERM; echo deaf; while :; do sleep 0.1; done"


async def open_screen(app: PinfoldApp, pilot: Pilot[None]) -> SandboxesScreen:
    await pilot.press("3")
    await until(lambda: isinstance(app.screen, SandboxesScreen), pilot)
    return sandboxes(app)


def sandboxes(app: PinfoldApp) -> SandboxesScreen:
    assert isinstance(app.screen, SandboxesScreen)
    return app.screen


async def start(app: PinfoldApp, pilot: Pilot[None], alias: str) -> SessionRow:
    """Start an agent as an operator does: on its row, with the form."""
    known = set(app.store.sessions)
    app.start_session(alias)
    await until(lambda: isinstance(app.screen, StartForm), pilot)
    await until(lambda: not app.screen.query_one("#yes", Button).disabled, pilot)
    await pilot.press("enter")
    await until(lambda: set(app.store.sessions) - known, pilot)
    (new,) = set(app.store.sessions) - known
    await until(lambda: state(app, new) not in ("preparing", "creating", "starting"), pilot)
    return app.store.sessions[new]


def session_in(pane: OutputPane) -> str:
    return pane.row.id if pane.row else ""


def state(app: PinfoldApp, session: str) -> str:
    return state_word(app.store.sessions[session])


async def test_an_empty_screen_says_what_would_be_here_and_which_key_makes_the_first(world) -> None:
    async with screens(world) as (app, pilot):
        await open_screen(app, pilot)
        await until(lambda: "No sessions yet" in shown(app), pilot)
        assert "s  start the first one" in shown(app)


async def test_a_session_started_from_the_form_shows_its_row_its_output_and_its_end(world) -> None:
    world.agent("counter", echo_lines(20))
    async with screens(world) as (app, pilot):
        row = await start(app, pilot, "counter")
        await until(lambda: state(app, row.id) == "exited", pilot)
        await until(lambda: "line 20" in shown(app), pilot)
        await until(lambda: "✓ exited" in shown(app) and f"counter {row.id}, exited" in shown(app), pilot)
        assert sandboxes(app)._sessions.table.row == app.store.sessions[row.id]
        assert "x stop" not in shown(app)


async def test_the_form_shows_what_the_sandbox_would_get(world) -> None:
    world.agent("counter", "true", sandbox='memory = "64m"\npids = 12\n')
    async with screens(world) as (app, pilot):
        app.start_session("counter")
        await until(lambda: isinstance(app.screen, StartForm), pilot)
        await until(lambda: "64M memory, 12 processes" in shown(app), pilot)
        assert str(world.home.agent_dir("counter"))[-20:] in shown(app)


@pytest.mark.parametrize(
    ("field", "typed", "reason"),
    [
        ("command", "echo 'half", "the command cannot be split into words"),
        ("prompt", "x" * 100_001, "the prompt is too long"),
    ],
    ids=["quotes", "prompt"],
)
async def test_the_form_refuses_before_anything_starts(world, field, typed, reason) -> None:
    world.agent("counter", "true")
    async with screens(world) as (app, pilot):
        app.start_session("counter")
        await until(lambda: isinstance(app.screen, StartForm), pilot)
        await until(lambda: not app.screen.query_one("#yes", Button).disabled, pilot)
        app.screen.query_one(f"#{field}", Input).value = typed
        await until(lambda: reason in shown(app), pilot)
        assert app.screen.query_one("#yes", Button).disabled
        await pilot.press("enter")
        assert isinstance(app.screen, StartForm)
        assert app.store.sessions == {}


async def test_enter_right_after_typing_starts_once_the_form_has_looked(world) -> None:
    world.agent("counter", "true")
    async with screens(world) as (app, pilot):
        app.start_session("counter")
        await until(lambda: isinstance(app.screen, StartForm), pilot)
        await until(lambda: getattr(app.screen.focused, "id", "") == "prompt", pilot)
        await pilot.press(*"hi", "enter")
        await until(lambda: app.store.sessions, pilot)
        (session,) = await app.pinfold.sandboxes.sessions()
        assert session.prompt == "hi"


async def test_an_engine_that_does_not_answer_is_refused_with_its_reason(world) -> None:
    world.agent("counter", "true")
    async with screens(world) as (app, pilot):
        app.start_session("counter")
        await until(lambda: isinstance(app.screen, StartForm), pilot)
        await until(lambda: "runs in" in shown(app), pilot)
        engine = app.screen.query_one("#engine")
        engine.focus()
        await until(lambda: engine.has_focus, pilot)
        await pilot.press("right")
        await until(lambda: "no engine can run this session" in shown(app), pilot)
        assert "docker:" in shown(app)


async def test_stop_climbs_the_ladder_and_shows_each_rung(world) -> None:
    world.agent("deaf", DEAF, sandbox='stop_timeout = "300ms"\n')
    async with screens(world) as (app, pilot):
        row = await start(app, pilot, "deaf")
        await until(lambda: "deaf" in pane_text(app), pilot)
        await pilot.press("x")
        await until(lambda: state(app, row.id) == "stopped", pilot)
        await until(lambda: all(rung in shown(app) for rung in ("interrupt", "terminate", "kill")), pilot)


def pane_text(app: PinfoldApp) -> str:
    return "\n".join(line for line in shown(app).splitlines() if "ready" in line or "deaf" in line)


async def test_marked_sessions_are_stopped_together_after_one_question(world) -> None:
    world.agent("one", FOREVER)
    world.agent("two", FOREVER)
    async with screens(world) as (app, pilot):
        rows = [await start(app, pilot, "one"), await start(app, pilot, "two")]
        sandboxes(app)._sessions.table.focus()
        await pilot.press("asterisk", "x")
        await until(lambda: isinstance(app.screen, Confirm), pilot)
        assert app.focused is app.screen.query_one("#cancel")
        assert "Stop 2 sessions?" in shown(app)
        await pilot.press("right", "enter")
        await until(lambda: all(state(app, row.id) == "stopped" for row in rows), pilot)
        assert sandboxes(app)._sessions.table.marked == ()


async def test_removing_asks_first_lists_exactly_what_goes_and_starts_on_cancel(world) -> None:
    world.agent("counter", "true")
    async with screens(world) as (app, pilot):
        row = await start(app, pilot, "counter")
        await until(lambda: state(app, row.id) == "exited", pilot)
        sandboxes(app)._sessions.table.focus()
        await pilot.press("D")
        await until(lambda: isinstance(app.screen, Confirm), pilot)
        text = shown(app)
        assert f"counter  {row.id}  exited" in text
        assert "its sandbox on local, its record and its output" in text
        assert "Workspaces stay as they are" in text
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, SandboxesScreen), pilot)
        assert row.id in app.store.sessions
        await pilot.press("D", "right", "enter")
        await until(lambda: row.id not in app.store.sessions, pilot)
        assert not world.home.session_dir(row.id).exists()


async def test_an_orphan_is_named_as_such_and_can_only_be_removed() -> None:
    row = SessionRow.of_orphan(Orphan("docker", "9f8e7d", "", "old\x1b[2J", "exited"))
    assert row.agent == "old"
    dialog = question("remove", [row])
    assert dialog is not None
    assert dialog._lines == ("old  sandbox 9f8e7d on docker, without a record",)


async def test_the_first_pane_follows_the_cursor_and_a_split_keeps_its_session(world) -> None:
    world.agent("one", FOREVER)
    world.agent("two", FOREVER)
    async with screens(world) as (app, pilot):
        one = await start(app, pilot, "one")
        two = await start(app, pilot, "two")
        panes = sandboxes(app)._panes
        sandboxes(app)._sessions.table.focus()
        await until(lambda: session_in(panes.first) == two.id, pilot)
        await pilot.press("o")
        await until(lambda: len(panes.panes) == 2 and session_in(panes.panes[1]), pilot)
        await pilot.press("j")
        await until(lambda: session_in(panes.first) == one.id, pilot)
        assert session_in(panes.panes[1]) == two.id
        await pilot.press("enter")
        assert isinstance(app.focused, LogPane)
        assert app.focused is panes.first.log_pane
        await pilot.press("escape")
        assert sandboxes(app)._sessions.table.has_focus
        await pilot.press("O")
        await until(lambda: len(panes.panes) == 1, pilot)


async def test_there_are_at_most_four_panes_and_never_none(world) -> None:
    world.agent("one", "true")
    async with screens(world) as (app, pilot):
        await start(app, pilot, "one")
        sandboxes(app)._sessions.table.focus()
        await pilot.press(*"ooooo")
        assert len(sandboxes(app)._panes.panes) == 4
        await pilot.press(*"OOOOO")
        assert len(sandboxes(app)._panes.panes) == 1


async def test_actions_concern_the_pane_in_use_while_it_has_the_focus(world) -> None:
    world.agent("one", FOREVER)
    world.agent("two", FOREVER)
    async with screens(world) as (app, pilot):
        one = await start(app, pilot, "one")
        sandboxes(app)._sessions.table.focus()
        await pilot.press("o")
        two = await start(app, pilot, "two")
        panes = sandboxes(app)._panes
        panes.panes[1].log_pane.focus()
        await until(lambda: sandboxes(app)._panes.active is panes.panes[1], pilot)
        await pilot.press("x")
        await until(lambda: state(app, one.id) == "stopped", pilot)
        assert state(app, two.id) == "running"


async def test_switching_fast_leaves_one_open_reader(world, monkeypatch) -> None:
    world.agent("one", "echo first")
    world.agent("two", "echo second")
    opened: list[SpoolReader] = []

    class Counted(SpoolReader):
        def close(self) -> None:
            super().close()
            opened.remove(self)

    async def counted_output(self, session: str) -> SpoolReader:
        reader = Counted.open(world.home.session_dir(session) / "output")
        opened.append(reader)
        return reader

    async with screens(world) as (app, pilot):
        await start(app, pilot, "one")
        await start(app, pilot, "two")
        monkeypatch.setattr(Sandboxes, "output", counted_output)
        pane = sandboxes(app)._panes.first
        for _ in range(100):
            for row in app.store.sessions.values():
                pane.show(row)
                await pilot.pause(0)
        await until(lambda: len(opened) == 1 and pane._reader is opened[0], pilot)
    assert opened == []


async def test_usage_is_taken_only_of_running_sessions_on_a_screen_in_sight(world) -> None:
    world.agent("one", FOREVER)
    world.agent("two", "true")
    async with screens(world) as (app, pilot):
        await start(app, pilot, "two")
        one = await start(app, pilot, "one")
        screen = sandboxes(app)
        await until(lambda: screen._usage.watched == {one.id}, pilot)
        await until(lambda: screen._usage.history(one.id) is not None, pilot)
        await until(lambda: "%" in shown(app), pilot)
        await pilot.press("1")
        await until(lambda: not screen._usage.watched, pilot)
        await pilot.press("3")
        await until(lambda: screen._usage.watched == {one.id}, pilot)


async def test_the_filter_narrows_while_typed_and_escape_brings_all_back(world) -> None:
    world.agent("apple", "true")
    world.agent("pear", "true")
    async with screens(world) as (app, pilot):
        await start(app, pilot, "apple")
        await start(app, pilot, "pear")
        table = sandboxes(app)._sessions.table
        table.focus()
        await pilot.press("slash", *"pea")
        await until(lambda: [row.agent for row in table.rows] == ["pear"], pilot)
        assert "filter: pea  1 of 2" in shown(app)
        await pilot.press("enter")
        assert table.has_focus
        await pilot.press("escape")
        assert len(table.rows) == 2


async def test_the_drawer_shows_what_was_done_and_narrows_to_one_session(world) -> None:
    world.agent("one", "true")
    world.agent("two", "true")
    async with screens(world) as (app, pilot):
        one = await start(app, pilot, "one")
        two = await start(app, pilot, "two")
        await until(lambda: state(app, two.id) == "exited", pilot)
        sandboxes(app)._sessions.table.focus()
        await pilot.press("a")
        await until(lambda: app.screen.query(ActivityDrawer), pilot)
        drawer = app.screen.query_one(ActivityDrawer)
        await until(lambda: {row.session for row in drawer.table.rows} >= {one.id, two.id}, pilot)
        await pilot.press("f")
        await until(lambda: {row.session for row in drawer.table.rows} == {two.id}, pilot)
        await pilot.press("escape")
        await until(lambda: not app.screen.query(ActivityDrawer), pilot)
        assert sandboxes(app)._sessions.table.has_focus


async def test_an_unconfined_session_says_so_on_its_row_its_pane_and_its_details(world) -> None:
    world.agent("free", FOREVER)
    async with screens(world) as (app, pilot):
        row = await start(app, pilot, "free")
        bare = SessionRow(**{**vars(row), "confined": False})
        app.store.sessions = {row.id: bare}
        sandboxes(app)._update(None)
        await until(lambda: shown(app).count("unconfined") >= 3, pilot)


@pytest.mark.parametrize("size", [(50, 12), (80, 24), (200, 60)], ids=["50x12", "80x24", "200x60"])
async def test_any_size_shows_sessions_and_output(world, size) -> None:
    world.agent("counter", echo_lines(5))
    async with screens(world, size) as (app, pilot):
        await start(app, pilot, "counter")
        await until(lambda: "line 5" in shown(app), pilot)
        assert "counter" in shown(app)
        await pilot.press("v", "o", "v", "O", "question_mark", "escape")
        await pilot.resize_terminal(50, 12)
        await pilot.resize_terminal(*size)
        await until(lambda: "line 5" in shown(app), pilot)
