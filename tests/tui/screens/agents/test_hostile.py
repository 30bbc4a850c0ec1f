"""Foreign text in every field: drawn harmlessly, edited without loss, and never in the way."""

from __future__ import annotations

import tomllib

from textual.events import Paste

from tests.tui.conftest import shown, until
from tests.tui.screens.agents.conftest import WORKER, add_entry, agents, drafts, form_of
from tui.screens.agents.saving import SaveDraft

LISTS = ("allowed_commands", "allowed_tools", "excluded_tools", "auto_approve", "always_ask", "allowed_roots")
HOSTILE = '["[red]x[/]", "\\u001b]52;c;AA\\u0007", "\\u202eevil", "a\\nb", "\\u200d\\u0301", ""]'
LONG = "x" * 50_000


def lists(value: str) -> str:
    return "".join(f"{name} = {value}\n" for name in (*LISTS, "forbidden_paths", "allowed_domains"))


async def test_entries_that_would_act_on_a_terminal_are_drawn_and_edited_harmlessly(edited) -> None:
    file = edited.home.agent_file("worker")
    start, end = WORKER.index("allowed_commands"), WORKER.index("[workspace")
    file.write_text(WORKER[:start] + lists(HOSTILE) + "\n" + WORKER[end:])
    before = tomllib.loads(file.read_text())["permissions"]
    async with form_of(edited) as (app, pilot, form):
        for text in ("[red]x[/]", "<202E>evil", "a b"):
            assert text in shown(app)
        form.go_to("permissions.allowed_commands", 1)
        await pilot.press("enter")
        await until(lambda: form.asking, pilot)
        assert "\\u001B]52;c;AA\\u0007" in shown(app)
        form._entry.post_message(Paste("\x1b[2J\u202e!"))
        await until(lambda: "\\u202E!" in shown(app), pilot)
        await pilot.press("enter")
        await until(lambda: drafts(app).of("worker").count == 1, pilot)
        assert not set(shown(app)) & set("\x1b\x07\u202e\u200d")
        await pilot.press("ctrl+s")
        await until(lambda: isinstance(app.screen, SaveDraft), pilot)
        assert not set(shown(app)) & set("\x1b\x07\u202e\u200d")
        await pilot.press("right", "enter")
        await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    after = tomllib.loads(file.read_text())["permissions"]
    assert after.pop("allowed_commands")[1] == "\x1b]52;c;AA\x07\x1b[2J\u202e!"
    assert after.items() <= before.items()


async def test_an_endless_entry_neither_holds_the_screen_up_nor_gets_cut(edited) -> None:
    file = edited.home.agent_file("worker")
    file.write_text(WORKER.replace('["browser"]', f'["browser", "{LONG}"]'))
    async with form_of(edited) as (app, pilot, form):
        form.go_to("permissions.excluded_tools", 1)
        await pilot.press("enter")
        await until(lambda: form.asking, pilot)
        await pilot.press("y", "enter")
        await until(lambda: drafts(app).of("worker").count == 1, pilot)
        await add_entry(app, pilot, form, "permissions.allowed_commands", "pip")
        await pilot.press("t", "a")
        await until(lambda: "may not read a" in shown(app) or "may read a" in shown(app), pilot)
        await pilot.press("escape", "ctrl+s")
        await until(lambda: isinstance(app.screen, SaveDraft), pilot)
        assert "may now run pip" in shown(app)
        await pilot.press("right", "enter")
        await until(lambda: drafts(app).of("worker").undo is not None, pilot)
    assert tomllib.loads(file.read_text())["permissions"]["excluded_tools"] == ["browser", LONG + "y"]


async def test_two_hundred_siblings_and_a_thousand_entries_are_moved_through_at_once(edited) -> None:
    for number in range(200):
        edited.home.agent_dir(f"agent{number}").mkdir()
        edited.home.agent_file(f"agent{number}").write_text('[agent]\nrisk_profile = "plain"\n')
    commands = ", ".join(f'"program{number}"' for number in range(1000))
    edited.home.agent_file("worker").write_text(WORKER.replace('"git", "make"', commands))
    async with form_of(edited, size=(80, 24)) as (app, pilot, form):
        await pilot.press("G", "g", "j", "j", *["l"] * 20, *["pagedown"] * 8)
        assert form.go_to("workspace.access.agent150", 0)
        await pilot.press("space")
        await until(lambda: "may now read ../agent150" in shown(app), pilot)
        assert agents(app).query_one("#status").size.height == 1
