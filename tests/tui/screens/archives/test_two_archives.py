"""Two archives of one agent: set against one another, narrowed down to, and purged together."""

from __future__ import annotations

import pytest
from textual.widgets import Button, Input, Select

from services.memory import Draft
from tests.services.operations.conftest import done
from tests.support.sessions import World
from tests.tui.conftest import screens, shown, until
from tests.tui.screens.archives.conftest import archives, until_shown
from tui.screens.archives import ArchivesScreen
from tui.screens.archives.choosing import ChooseOther
from tui.screens.archives.entries import Narrowed
from tui.screens.archives.narrowing import Narrow
from tui.screens.archives.purging import Purge
from tui.widgets.choice import Choice


@pytest.fixture
async def twice(staffed: World) -> World:
    """A world whose worker was deleted, restored, changed, and deleted again; and whose helper was deleted too."""
    staffed.agent("helper", "true")
    async with staffed.pinfold(supervise=False) as pinfold:
        operations = pinfold.operations
        await done(pinfold, await operations.plan_delete("helper"))
        first = await done(pinfold, await operations.plan_delete("worker"))
        await done(pinfold, await operations.plan_restore(first.archive, references=("*",)))
        (staffed.home.default_workspace("worker") / "notes.md").write_text("other\n")
        (staffed.home.default_workspace("worker") / "new.txt").write_text("new\n")
        await pinfold.agent_memories.of("worker").store(Draft(key="fact1", content="the sky is grey"))
        file = staffed.home.agent_file("worker")
        file.write_text(file.read_text().replace("enabled = true", "enabled = false"))
        await done(pinfold, await operations.plan_delete("worker"))
    return staffed


async def test_they_are_compared_with_one_another_by_file_setting_and_memory(twice) -> None:
    async with screens(twice, (200, 60)) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "worker", "helper")
        screen = archives(app)
        later, earlier = (entry.key for entry in screen._entries if entry.archive and entry.alias == "worker")
        screen.show_archive(earlier)
        await until(lambda: screen._reading.archive is not None, pilot)
        await pilot.press("c")
        await until(lambda: isinstance(app.screen, ChooseOther) and app.focused is not None, pilot)
        assert isinstance(app.screen, ChooseOther)
        assert app.screen._table.row is not None
        assert app.screen._table.row.name == later
        await pilot.press("enter")
        await until_shown(app, pilot, f"{earlier} against {later}", "-enabled = true", "+enabled = false")
        await until_shown(app, pilot, "+ workspace/new.txt", "~ workspace/notes.md", "FILES: 2 differ")
        await until_shown(app, pilot, "~ fact1", "+ the sky is grey", "MEMORIES: 1 differ, 2 the same")


async def test_what_is_shown_is_chosen_by_agent_kind_state_and_age(twice) -> None:
    async with screens(twice) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "Archives and operations 4")
        screen = archives(app)

        async def narrow(*choices: tuple[str, str]) -> None:
            await pilot.press("n")
            await until(lambda: isinstance(app.screen, Narrow) and app.focused is not None, pilot)
            for name, value in choices:
                if name == "alias":
                    app.screen.query_one("#alias", Select).value = value
                else:
                    app.screen.query_one(f"#{name}", Choice).value = value
            app.screen.query_one("#yes", Button).press()
            await until(lambda: app.screen is screen, pilot)

        await narrow(("alias", "worker"))
        await until_shown(app, pilot, "Archives and operations: worker 3")
        assert {entry.alias for entry in screen._list.table.rows} == {"worker"}
        await narrow(("kind", "delete"))
        await until_shown(app, pilot, "Archives and operations: delete, worker 2")
        await narrow(("kind", ""), ("state", "done"))
        await until_shown(app, pilot, "Archives and operations: worker, done 1", "restore")
        await narrow(("state", ""), ("older", "hour"))
        await until_shown(app, pilot, "Nothing is worker, older than an hour", "narrow down otherwise")
        await pilot.press("escape")
        await until_shown(app, pilot, "Archives and operations 4")
        await pilot.press("slash", *"helper", "enter")
        await until(lambda: [entry.alias for entry in screen._list.table.rows] == ["helper"], pilot)


async def test_marked_ones_are_purged_together_once_their_number_was_typed(twice) -> None:
    async with screens(twice) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "Archives and operations 4")
        screen = archives(app)
        screen.narrow(Narrowed(kind="delete"))
        await until(lambda: len(screen._list.table.rows) == 3, pilot)
        kept = [entry.key for entry in screen._list.table.rows]
        await pilot.press("g", "space", "G", "space", "D")
        await until(lambda: isinstance(app.screen, Purge) and app.focused is not None, pilot)
        await until_shown(app, pilot, "Purge 2 archives", "type how many they are: 2", "is gone for good")
        purge = app.screen
        for typed, refused in (("worker", True), ("3", True), ("2", False)):
            purge.query_one("#typed", Input).value = typed
            await pilot.pause()
            assert purge.query_one("#yes").disabled is refused
        assert all((twice.home.archives_dir / name).exists() for name in kept)
        purge.query_one("#yes", Button).press()
        await until_shown(app, pilot, "2 archives purged")
        assert isinstance(app.screen, ArchivesScreen)
        assert [(twice.home.archives_dir / name).exists() for name in kept] == [False, True, False]
        await until(lambda: [entry.key for entry in screen._list.table.rows] == kept[1:2], pilot)
        screen.narrow(Narrowed(state="purged"))
        await until(lambda: len(screen._list.table.rows) == 2, pilot)
        await until_shown(app, pilot, "■ purged")
        assert "get it back" not in shown(app)
