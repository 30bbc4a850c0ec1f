"""Permissions edited with the keys and the mouse an operator has."""

from __future__ import annotations

from textual.widgets import Button

from tests.tui.conftest import shown, until
from tests.tui.screens.agents.conftest import add_entry, agents, drafts, form_of, line_of, settled, type_in, until_shown
from tui.screens.agents.choosing import ChooseValue
from tui.screens.dialog import Confirm

COMMANDS, VARIABLES = "permissions.allowed_commands", "permissions.env_passthrough"


async def test_every_field_says_where_its_value_is_written(editor) -> None:
    app, _, _, _ = editor
    assert line_of(app, "Commands").rstrip().endswith("agent.toml:7")
    assert line_of(app, "Forbidden").rstrip().endswith("profile")
    assert line_of(app, "Domains").rstrip().endswith("default")
    assert line_of(app, "(●)").rstrip().endswith("agent.toml:11")


async def test_an_entry_is_added_changed_removed_and_inherited_again(editor) -> None:
    app, pilot, form, home = editor
    await add_entry(app, pilot, form, COMMANDS, "pip")
    assert form.row.entries == ("git", "make", "pip")
    assert "not saved" in line_of(app, "Commands")
    assert "may now run pip" in line_of(app, "widens")
    assert "1 change not saved" in shown(app)
    await until(lambda: "worker *" in shown(app), pilot)
    await pilot.press("enter")
    await until(lambda: form.asking, pilot)
    await type_in(pilot, "3")
    await pilot.press("enter")
    await until(lambda: form.row.entries == ("git", "make", "pip3"), pilot)
    await pilot.press("h", "d")
    await until(lambda: form.row.entries == ("git", "pip3"), pilot)
    await pilot.press("backspace")
    await until(lambda: form.row.entries == ("git", "ls") and not form.row.own, pilot)
    assert home.agent_file("worker").read_text().count("pip") == 0


async def test_changing_back_leaves_nothing_to_save(editor) -> None:
    app, pilot, form, _ = editor
    await add_entry(app, pilot, form, COMMANDS, "pip")
    await pilot.press("d")
    await until(lambda: not drafts(app).of("worker").open, pilot)
    assert "^s save" not in shown(app)
    assert "worker *" not in shown(app)


BAD = [
    (VARIABLES, "1X", "must be the name of an environment variable"),
    ("sandbox.memory", "lots", "must be a size, such as"),
    ("sandbox.cpus", "many", "must be a number of cores"),
    ("sandbox.pids", "0", "must be a whole number from 1"),
    (COMMANDS, "a\\q", "this escape is unknown"),
]


async def test_what_is_wrong_is_said_at_its_field_while_typing_and_nothing_typed_is_lost(editor) -> None:
    app, pilot, form, _ = editor
    for key, typed, problem in BAD:
        form.go_to(key)
        await pilot.press("plus" if key.startswith("permissions") else "enter")
        await until(lambda: form.asking, pilot)
        await type_in(pilot, typed)
        await until_shown(app, pilot, problem)
        await pilot.press("enter")
        await until(lambda: settled(app), pilot)
        assert form.asked.typed == typed
        assert drafts(app).of("worker").count == 0
        await pilot.press("escape")
        assert not form.asking


async def test_what_is_half_typed_waits_while_the_operator_looks_elsewhere(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to(COMMANDS)
    await pilot.press("plus")
    await until(lambda: form.asking, pilot)
    await type_in(pilot, "git di")
    agents(app).show_agent("helper")
    await until(lambda: not form.asking, pilot)
    await pilot.press("3", "1")
    agents(app).show_agent("worker")
    await until(lambda: form.asking, pilot)
    assert form.asked.typed == "git di"
    assert "git di" in shown(app)


async def test_access_to_siblings_is_moved_in_by_arrows_and_given_by_space(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to("workspace.access.helper", 0)
    await pilot.press("right", "right", "space")
    await until(lambda: drafts(app).of("worker").count == 1, pilot)
    assert "may now write ../helper" in shown(app)
    await pilot.press("end", "k")
    form.go_to("workspace.access.helper", 4)
    await pilot.press("enter")
    await until(lambda: "may no longer read ../helper" in shown(app), pilot)


async def test_access_to_siblings_is_given_by_a_click(editor) -> None:
    app, pilot, form, _ = editor
    number, piece = form._lines.place_of(form._number_of("workspace.access.helper"), 2)
    await pilot.click("FormLines", offset=(piece.x + 1, number - form._lines.scroll_offset.y))
    await until(lambda: drafts(app).of("worker").count == 1, pilot)
    assert drafts(app).of("worker").draft.changes[0].value == "read_write"


async def test_another_profile_is_previewed_in_words_before_it_is_taken(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to("agent.risk_profile")
    await pilot.press("enter")
    await until(lambda: isinstance(app.screen, ChooseValue), pilot)
    await pilot.press("G")
    await until(lambda: "works at level full, was supervised" in shown(app), pilot)
    assert drafts(app).of("worker").count == 0
    await pilot.press("enter")
    await until(lambda: drafts(app).of("worker").count == 1, pilot)
    await until(lambda: "wild" in line_of(app, "Profile"), pilot)
    assert line_of(app, "Level").rstrip().endswith("profile")


async def test_how_the_sandbox_reaches_its_tools_is_chosen_like_its_network(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to("sandbox.tools")
    assert line_of(app, "Tool server").rstrip().endswith("default")
    await pilot.press("enter")
    await until(lambda: isinstance(app.screen, ChooseValue), pilot)
    await until_shown(app, pilot, "over a unix socket")
    await pilot.press("G", "enter")
    await until(lambda: form.row.entries == ("http",), pilot)
    assert drafts(app).of("worker").draft.changes[0].path == ("sandbox", "tools")


async def test_rules_that_do_nothing_are_marked_where_they_stand(editor) -> None:
    app, pilot, form, _ = editor
    await add_entry(app, pilot, form, COMMANDS, "git status")
    await until(lambda: "never matches: list the program alone" in shown(app), pilot)
    assert "⚠ git status" in line_of(app, "Commands")


async def test_only_what_works_where_the_cursor_is_is_offered(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to(COMMANDS, 0)
    await until(lambda: "d remove" in shown(app), pilot)
    form.go_to("profile.workspace_only")
    await until(lambda: "d remove" not in shown(app), pilot)
    assert "⏎ change" not in shown(app)


async def test_leaving_pinfold_with_something_not_saved_asks_first(edited) -> None:
    async with form_of(edited) as (app, pilot, form):
        await add_entry(app, pilot, form, COMMANDS, "pip")
        await pilot.press("3", "q")
        await until(lambda: isinstance(app.screen, Confirm), pilot)
        assert "worker: 1 change" in shown(app)
        assert app.screen.query_one("#cancel", Button).has_focus
        await pilot.press("enter")
        await until(lambda: not isinstance(app.screen, Confirm), pilot)
        assert drafts_of_other_screen(app) == 1
        await pilot.press("q")
        await until(lambda: isinstance(app.screen, Confirm), pilot)
        await pilot.press("right", "enter")
        await until(lambda: app._exit, pilot)


def drafts_of_other_screen(app) -> int:
    return sum(len(ask()) for ask in app.leaving)


async def test_dropping_changes_asks_first(editor) -> None:
    app, pilot, form, _ = editor
    await add_entry(app, pilot, form, COMMANDS, "pip")
    await pilot.press("X")
    await until(lambda: isinstance(app.screen, Confirm), pilot)
    await pilot.press("right", "enter")
    await until(lambda: not drafts(app).of("worker").open, pilot)
    assert form.rows[2].entries == ("git", "make")


async def test_any_size_can_be_edited_in(edited) -> None:
    async with form_of(edited, size=(120, 30)) as (app, pilot, form):
        for name, size in (("pip", (50, 12)), ("pip2", (80, 24)), ("pip3", (200, 60))):
            await pilot.resize_terminal(*size)
            await pilot.press("G", "g", "pagedown", "pageup")
            await add_entry(app, pilot, form, COMMANDS, name)
            assert form.row.entries[-1] == name
            assert name in shown(app)
