"""The memory alone, the configuration alone, one folder: brought back from the screen to an agent that is there."""

from __future__ import annotations

import shutil

import pytest
from textual.pilot import Pilot

from services.memory import Draft
from tests.services.operations.conftest import done
from tests.support.sessions import World
from tests.tui.conftest import screens, shown, until
from tests.tui.screens.archives.conftest import agree, archives, until_shown
from tui.app import PinfoldApp
from tui.screens.archives import ArchivesScreen
from tui.screens.archives.entries import Narrowed
from tui.screens.operations.restoring import RestorePlan
from tui.widgets.choice import Choice


@pytest.fixture
async def harmed(staffed: World) -> World:
    """A world whose worker has an archive, and lost memory, settings and files since."""
    async with staffed.pinfold(supervise=False) as pinfold:
        operation = await done(pinfold, await pinfold.operations.plan_delete("worker"))
        await done(pinfold, await pinfold.operations.plan_restore(operation.archive))
        memory = pinfold.agent_memories.of("worker")
        await memory.forget("fact0")
        await memory.store(Draft(key="fact1", content="the sky is grey"))
        await memory.store(Draft(key="since", content="learned since"))
    file = staffed.home.agent_file("worker")
    file.write_text(f"# broken by hand\n{file.read_text()}")
    shutil.rmtree(staffed.home.default_workspace("worker") / "src")
    return staffed


async def ask(app: PinfoldApp, pilot: Pilot[None], *keys: str) -> RestorePlan:
    """Ask what is brought back, and press keys on the first question."""
    await pilot.press("u")
    await until(lambda: isinstance(app.screen, RestorePlan) and app.focused is not None, pilot)
    await pilot.press(*keys)
    assert isinstance(app.screen, RestorePlan)
    return app.screen


async def carried_out(app: PinfoldApp, pilot: Pilot[None]) -> None:
    """Agree to a plan, and wait until it is done and nothing is over the screen."""
    await agree(app, pilot)
    await until(lambda: isinstance(app.screen, ArchivesScreen) and not app.underway.running, pilot)


async def test_each_part_comes_back_from_the_screen_and_nothing_else_changes(harmed) -> None:
    home = harmed.home
    file, workspace = home.agent_file("worker"), home.default_workspace("worker")
    broken = file.read_bytes()
    async with screens(harmed) as (app, pilot):
        await pilot.press("4")
        await until_shown(app, pilot, "Archives and operations 2")
        screen = archives(app)
        screen.narrow(Narrowed(kind="delete"))
        await until(lambda: screen._reading.archive is not None, pilot)

        plan = await ask(app, pilot)
        await until_shown(app, pilot, "IN THE WAY", "Choose another alias")
        await pilot.press("right", "right")
        await until_shown(app, pilot, "memories with the same key are there: 2")
        plan.query_one("#there", Choice).value = "replace"
        await until_shown(app, pilot, "restored   memories  3 rows", "memories with the same key  2 rows")
        await carried_out(app, pilot)
        memory = app.pinfold.agent_memories.of("worker")
        found = {row.key: row.content for row in await memory.listed()}
        assert set(found) == {"fact0", "fact1", "fact2", "since"}
        assert "blue 1" in found["fact1"]
        assert file.read_bytes() == broken

        plan = await ask(app, pilot, "right")
        await until_shown(app, pilot, "Allow it to overwrite", "-# broken by hand")
        plan.query_one("#there", Choice).value = "replace"
        await until(lambda: not plan.query_one("#yes").disabled, pilot)
        await carried_out(app, pilot)
        assert file.read_bytes() == broken.removeprefix(b"# broken by hand\n")
        assert not (workspace / "src").exists()

        await until(lambda: ("restore", "sealed") in {(one.kind, one.state) for one in screen._entries}, pilot)
        screen.narrow(Narrowed(kind="restore", state="sealed"))
        await until_shown(app, pilot, "restore worker", "agent.toml", "u restores")

        screen.narrow(Narrowed(kind="delete"))
        await until(lambda: screen._reading.archive is not None, pilot)
        await pilot.press("enter")
        await until(lambda: screen._detail.contents.members.move_to("workspace/src"), pilot)
        await ask(app, pilot)
        await until_shown(app, pilot, "restored   workspace/src  1 file")
        await carried_out(app, pilot)
        assert (workspace / "src" / "app.py").read_text() == "print('hello from the worker')\n"
        assert (workspace / "notes.md").exists()
        assert "\x1b" not in shown(app)
