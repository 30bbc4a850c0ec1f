"""Drafts written, taken back, and held against files that somebody else changes."""

from __future__ import annotations

from textual.widgets import Button

from tests.tui.conftest import shown, until
from tests.tui.screens.agents.conftest import WORKER, add_entry, agents, drafts, form_of, line_of, until_shown
from tui.screens.agents.comparing import CompareVersions
from tui.screens.agents.saving import SaveDraft

COMMANDS = "permissions.allowed_commands"


async def save(app, pilot, *keys: str) -> None:
    await pilot.press("ctrl+s")
    await until(lambda: isinstance(app.screen, SaveDraft), pilot)
    await pilot.press(*keys, "enter")
    await until(lambda: not isinstance(app.screen, SaveDraft), pilot)


async def test_what_widens_starts_on_cancel_and_is_written_with_every_comment_once_allowed(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    await add_entry(app, pilot, form, COMMANDS, "pip")
    await pilot.press("ctrl+s")
    await until(lambda: isinstance(app.screen, SaveDraft), pilot)
    assert app.screen.query_one("#cancel", Button).has_focus
    text = shown(app)
    assert "⚠ widens  may now run pip" in text
    assert '- allowed_commands = ["git", "make"]  # make builds it' in text
    assert '+ allowed_commands = ["git", "make", "pip"]  # make builds it' in text
    await pilot.press("enter")
    await until(lambda: not isinstance(app.screen, SaveDraft), pilot)
    assert file.read_text() == WORKER
    await save(app, pilot, "right")
    await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    assert file.read_text() == WORKER.replace('"make"]', '"make", "pip"]')
    assert "worker is saved; u takes it back" in shown(app)


async def test_what_only_narrows_is_saved_by_one_more_enter_and_taken_back_by_one_key(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    form.go_to(COMMANDS, 1)
    await pilot.press("d")
    await until(lambda: drafts(app).of("worker").count, pilot)
    await save(app, pilot)
    await until(lambda: file.read_text() == WORKER.replace('"git", "make"', '"git"'), pilot)
    await until(lambda: "u undo" in shown(app), pilot)
    await pilot.press("u")
    await until(lambda: file.read_text() == WORKER, pilot)
    await until(lambda: form.row.entries == ("git", "make"), pilot)
    await until(lambda: "u undo" not in shown(app), pilot)
    assert (await verbs(app))[-2:] == ["agent.edit", "agent.undo"]


async def verbs(app) -> list[str]:
    entries = await app.pinfold.activity.recent(20)
    return [entry.verb for entry in sorted(entries, key=lambda entry: entry.number)]


async def test_what_is_half_typed_is_saved_with_the_rest_or_holds_the_save_back(editor) -> None:
    app, pilot, form, _ = editor
    form.go_to("permissions.env_passthrough")
    await pilot.press("plus", "1", "ctrl+s")
    await until(lambda: "must be the name of an environment variable" in shown(app), pilot)
    assert not isinstance(app.screen, SaveDraft)
    await pilot.press("backspace", "X", "ctrl+s")
    await until(lambda: isinstance(app.screen, SaveDraft), pilot)
    assert "may now see the variable X" in shown(app)


async def test_running_sessions_are_listed_with_when_the_change_reaches_them(edited) -> None:
    edited.agent("worker", "sleep 30", sandbox='lifecycle = "session"')
    async with form_of(edited) as (app, pilot, form):
        await pilot.press("s")
        await until(lambda: "limits" in shown(app), pilot)
        await pilot.press("enter")
        await until(lambda: app.store.sessions and app.store.running, pilot)
        (session,) = app.store.sessions
        await pilot.press("1")
        form.focus()
        await add_entry(app, pilot, form, "permissions.forbidden_paths", "~/keys")
        await pilot.press("ctrl+s")
        await until(lambda: isinstance(app.screen, SaveDraft), pilot)
        (line,) = [line for line in shown(app).splitlines() if session in line]
        assert "reached at its next start" in line
        await pilot.press("escape")
        await app.pinfold.sandboxes.kill(session)
        await until(lambda: not app.store.sessions[session].live, pilot)


async def test_keys_changed_on_both_sides_are_shown_three_ways_and_settled_one_by_one(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    await add_entry(app, pilot, form, COMMANDS, "pip")
    await add_entry(app, pilot, form, "permissions.forbidden_paths", "~/keys")
    theirs = WORKER.replace('"git", "make"', '"git", "cargo"').replace('["browser"]', '["browser", "shell"]')
    file.write_text(theirs)
    await until(lambda: "c compare" in shown(app) and "^s save" not in shown(app), pilot)
    await pilot.press("c")
    await until(lambda: isinstance(app.screen, CompareVersions), pilot)
    text = shown(app)
    for value in ("git  make", "git  make  pip", "git  cargo", "browser  shell", "~/.ssh  ~/keys"):
        assert value in text
    assert "1 changed on both sides" in text
    assert "◉ disk" in line_of(app, "⚠ permissions.allowed_commands")
    await pilot.press("enter")
    await until(lambda: "◉ yours" in line_of(app, "⚠ permissions.allowed_commands"), pilot)
    await pilot.press("tab", "tab", "tab", "enter")
    await until(lambda: not isinstance(app.screen, CompareVersions), pilot)
    await until(lambda: "changed on disk" not in shown(app), pilot)
    await save(app, pilot, "right")
    await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    written = file.read_text()
    assert 'allowed_commands = ["git", "make", "pip"]' in written
    assert 'excluded_tools = ["browser", "shell"]' in written
    assert 'forbidden_paths = ["~/.ssh", "~/keys"]' in written


async def test_other_keys_changed_on_disk_are_taken_over_and_told_while_one_types(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    await add_entry(app, pilot, form, "permissions.forbidden_paths", "~/keys")
    form.go_to(COMMANDS, 1)
    await pilot.press("enter", "2")
    await until(lambda: drafts(app).of("worker").typing is not None, pilot)
    file.write_text(WORKER.replace('"git", "make"', '"cargo", "git", "make"').replace("enabled = true", "# on"))
    await until_shown(app, pilot, "worker changed on disk: may now run cargo")
    assert "c compare" not in shown(app)
    assert (form.asked.typed, form.asked.slot, form.asking) == ("make2", 2, True)
    await pilot.press("3", "enter")
    await until(lambda: not form.asking and form.row.entries == ("cargo", "git", "make23"), pilot)
    await save(app, pilot, "right")
    await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    written = file.read_text()
    assert 'allowed_commands = ["cargo", "git", "make23"]' in written
    assert 'forbidden_paths = ["~/.ssh", "~/keys"]' in written


async def test_what_changes_on_disk_under_the_question_to_save_asks_it_anew(editor, monkeypatch) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    monkeypatch.setattr(drafts(app), "look", nothing)  # as if the watching were late
    form.go_to(COMMANDS, 1)
    await pilot.press("d")
    await until(lambda: drafts(app).of("worker").count, pilot)
    await pilot.press("ctrl+s")
    await until(lambda: isinstance(app.screen, SaveDraft), pilot)
    asked = app.screen
    file.write_text(WORKER.replace('runner = "command"', 'runner = "command"\nnetwork = "open"'))
    await pilot.press("enter")
    await until(lambda: isinstance(app.screen, SaveDraft) and app.screen is not asked, pilot)
    await until_shown(app, pilot, "worker changed on disk: reaches every host")
    await pilot.press("enter")
    await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    assert 'network = "open"' in file.read_text()
    assert 'allowed_commands = ["git"]' in file.read_text()


async def nothing(alias: str) -> None:
    """Look at no file."""


async def test_a_comment_written_meanwhile_is_kept_without_a_question(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    form.go_to(COMMANDS, 1)
    await pilot.press("d")
    await until(lambda: drafts(app).of("worker").count, pilot)
    file.write_text(f"# Written meanwhile.\n{WORKER}")
    await save(app, pilot)
    await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    assert file.read_text() == f"# Written meanwhile.\n{WORKER}".replace('"git", "make"', '"git"')


async def test_a_file_that_breaks_makes_the_form_read_only_and_keeps_what_was_changed(editor) -> None:
    app, pilot, form, home = editor
    file = home.agent_file("worker")
    await add_entry(app, pilot, form, COMMANDS, "pip")
    file.write_text(WORKER.replace("[permissions]", "[permissions"))
    await until(lambda: "read only" in shown(app) and "1 change kept" in shown(app), pilot)
    assert "stale: the last good file is in force" in shown(app)
    await pilot.press("d", "ctrl+s")
    assert form.row.entries == ("git", "make", "pip")
    await pilot.press("p")
    await until(lambda: agents(app)._detail.tab == "source" and "[permissions" in shown(app), pilot)
    file.write_text(WORKER)
    await until(lambda: "stale" not in shown(app), pilot)
    agents(app)._detail.turn_to("permissions")
    await until(lambda: "^s save" in shown(app), pilot)
    assert form.rows[2].entries == ("git", "make", "pip")


async def test_a_profile_changed_on_disk_shows_in_the_form(editor) -> None:
    app, pilot, _, home = editor
    config = home.config_file
    config.write_text(config.read_text().replace('["~/.ssh"]', '["~/.ssh", "~/.gnupg"]'))
    await until(lambda: "~/.gnupg" in line_of(app, "Forbidden"), pilot)


async def test_enabling_or_disabling_an_agent_keeps_what_is_not_saved(editor) -> None:
    app, pilot, form, home = editor
    await add_entry(app, pilot, form, COMMANDS, "pip")
    await pilot.press("e")
    await until(lambda: "– off" in shown(app), pilot)
    await until(lambda: drafts(app).of("worker").draft.base == home.agent_file("worker").read_bytes(), pilot)
    assert "changed on disk" not in shown(app)
    assert "^s save" in shown(app)
