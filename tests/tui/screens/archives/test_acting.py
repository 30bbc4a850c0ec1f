"""Every action of the screen of archives, on archives and operations that are real."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from textual.widgets import Button, Input

from services.operations.running import Run
from tests.tui.conftest import screens, shown, until
from tests.tui.screens.archives.conftest import (
    agree,
    archives,
    delete,
    open_agents,
    open_archives,
    until_shown,
)
from tui.screens.archives import ArchivesScreen
from tui.screens.archives.choosing import ChooseOther
from tui.screens.archives.entries import Narrowed
from tui.screens.archives.narrowing import Narrow
from tui.screens.archives.purging import Purge
from tui.screens.archives.retention import Expire
from tui.screens.operations.renaming import RenamePlan
from tui.screens.operations.running import RunningOperation
from tui.widgets.choice import Choice


async def test_a_rename_shows_what_names_the_agent_and_is_listed_with_its_steps(staffed) -> None:
    async with screens(staffed) as (app, pilot):
        await open_agents(app, pilot, "worker")
        await pilot.press("m")
        await until_shown(app, pilot, "type the new alias")
        assert isinstance(app.screen, RenamePlan)
        app.screen._line.value = "lead"
        await until_shown(app, pilot, "IN THE WAY")
        app.screen._line.value = "builder"
        await until_shown(app, pilot, "rewritten  lead hands work to it (bounded)", "follows    3 memories")
        await agree(app, pilot)
        await until(lambda: app.store.agent("builder") is not None and not app.underway.running, pilot)
        await until_shown(app, pilot, "worker is builder now")
        await pilot.press("4")
        await until_shown(app, pilot, "rename  ", "✓ done", "to builder")
        archives(app)._detail.turn_to("steps")
        await until_shown(app, pilot, "point of no return", "✓ done")


async def test_enter_right_after_typing_goes_to_the_button_once_the_plan_is_there(staffed) -> None:
    async with screens(staffed) as (app, pilot):
        await open_agents(app, pilot, "worker")
        await pilot.press("m")
        await until(lambda: getattr(app.screen.focused, "id", "") == "target", pilot)
        await pilot.press(*"digger", "enter")
        await until(lambda: getattr(app.screen.focused, "id", "") in ("yes", "cancel"), pilot)
        assert app.screen.focused is app.screen.query_one("#yes")
        await pilot.press("escape")


async def test_one_key_takes_a_delete_back_and_its_archive_is_compared_narrowed_down_to_and_purged(staffed) -> None:
    file = staffed.home.agent_file("worker")
    before = file.read_bytes()
    async with screens(staffed) as (app, pilot):
        await delete(app, pilot)
        await until_shown(app, pilot, "U undo delete")
        await pilot.press("U")
        await until_shown(app, pilot, "worker is restored")
        assert file.read_bytes() == before
        assert 'worker = "read"' in staffed.home.agent_file("lead").read_text()
        assert "U undo delete" not in shown(app)
        workspace = staffed.home.agent_dir("worker") / "workspace"
        (workspace / "notes.md").write_text("other\n")
        (workspace / "new.txt").write_text("new\n")

        await pilot.press("4")
        screen = archives(app)
        await until(lambda: len(screen._list.table.rows) == 2, pilot)
        deleted = next(entry.key for entry in screen._entries if entry.archive is not None)
        screen.show_archive(deleted)
        await until(lambda: screen._reading.archive is not None, pilot)
        await pilot.press("c")
        await until(lambda: isinstance(app.screen, ChooseOther), pilot)
        await pilot.press("enter")
        await until_shown(app, pilot, "against worker", "+ workspace/new.txt", "~ workspace/notes.md", "all the same")

        screen._detail.turn_to("contents")
        await until(lambda: screen._detail.contents.members.move_to("workspace/notes.md"), pilot)
        screen._detail.contents.members.focus()
        await pilot.press("u")
        await until_shown(app, pilot, "Path ", "would be replaced")
        app.screen.query_one("#there", Choice).value = "replace"
        await agree(app, pilot)
        await until(lambda: "milk" in (workspace / "notes.md").read_text(), pilot)
        await until(lambda: isinstance(app.screen, ArchivesScreen), pilot)
        await pilot.press("escape", "n")
        await until(lambda: isinstance(app.screen, Narrow), pilot)
        await pilot.press("right")
        app.screen.query_one("#yes", Button).press()
        await until_shown(app, pilot, "Archives and operations: delete 1")

        await pilot.press("e")
        await until(lambda: isinstance(app.screen, Expire), pilot)
        await until_shown(app, pilot, "nothing says which archives are kept")
        app.screen.query_one("#larger", Input).value = "1"
        await until_shown(app, pilot, "1 archive would be purged")
        app.screen.query_one("#yes", Button).press()
        await until(lambda: isinstance(app.screen, Purge) and app.focused is not None, pilot)
        purge = app.screen
        assert app.focused is purge.query_one("#cancel")
        purge.query_one("#typed", Input).value = "lead"
        await pilot.pause()
        assert purge.query_one("#yes").disabled
        purge.query_one("#typed", Input).value = "worker"
        await until(lambda: not purge.query_one("#yes").disabled, pilot)
        purge.query_one("#yes", Button).press()
        await until(lambda: not (staffed.home.archives_dir / deleted).exists(), pilot)
        await until_shown(app, pilot, f"{deleted} purged")
        screen._detail.turn_to("facts")
        screen.narrow(Narrowed(state="purged"))
        await until_shown(app, pilot, "■ purged", "nothing of it is kept: it was purged")


async def waiting_to_be_stopped(run: Run) -> str:
    """A step that is never done."""
    while True:
        run.tell("packing for ever", 1, 4, "files")
        await asyncio.sleep(0.01)


async def test_a_running_delete_is_shown_live_and_stopped_before_its_point_of_no_return(staffed, monkeypatch) -> None:
    from services.operations.purging import COURSE

    monkeypatch.setitem(COURSE.steps, "export", waiting_to_be_stopped)
    file = staffed.home.agent_file("worker")
    async with screens(staffed) as (app, pilot):
        await open_agents(app, pilot, "worker")
        await pilot.press("D")
        await agree(app, pilot)
        await until_shown(app, pilot, "packing for ever", "It can be stopped until its point of no return")
        await pilot.press("escape")
        await until(lambda: not isinstance(app.screen, RunningOperation), pilot)
        await pilot.press("q")
        await until_shown(app, pilot, "the delete of worker is under way; it is taken back")
        await pilot.press("enter", "4")
        await until_shown(app, pilot, "Under way 1", "packing for ever", "██")
        screen = archives(app)
        screen._underway.table.focus()
        for columns, rows in ((50, 12), (200, 60), (80, 24)):
            await pilot.resize_terminal(columns, rows)
            await until_shown(app, pilot, "delete worker")
        await until_shown(app, pilot, "x stop")
        await pilot.press("x")
        await until_shown(app, pilot, "■ cancelled")
        assert file.exists()
        assert "Under way" not in shown(app)


async def test_an_operation_left_on_the_way_stands_on_top_and_is_completed_by_a_key(staffed) -> None:
    async with staffed.pinfold() as pinfold:
        plan = await pinfold.operations.plan_delete("worker")
        async with aclosing(pinfold.operations.carry_out(plan)) as steps:
            async for progress in steps:
                if progress.operation.committed:
                    break
    async with screens(staffed) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "Under way 1", "delete worker", "✗ failed")
        screen = archives(app)
        screen._underway.table.focus()
        await pilot.press("enter")
        await until_shown(app, pilot, "a retry completes it", "t retry")
        await pilot.press("t")
        await until(lambda: not screen._underway.table.total and not app.underway.running, pilot)
        await until_shown(app, pilot, "✓ sealed")
        await open_archives(app, pilot)
        assert "✗" not in shown(app).replace("docker ✗", "")
