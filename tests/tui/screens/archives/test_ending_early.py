"""Operations that do not end as planned: Pinfold is left on the way, or a step fails."""

from __future__ import annotations

import asyncio

from services.errors import OperationError
from services.operations.running import Run
from tests.tui.conftest import PATIENCE_SECONDS, screens, shown
from tests.tui.screens.archives.conftest import agree, open_agents, until_shown


async def waiting(run: Run) -> str:
    """A step that is never done."""
    while True:
        run.tell("packing for ever")
        await asyncio.sleep(0.01)


async def test_leaving_takes_back_what_has_not_passed_its_point_of_no_return(staffed, monkeypatch) -> None:
    from services.operations.purging import COURSE

    with monkeypatch.context() as patch:
        patch.setattr("tui.app._CLOSING_SECONDS", PATIENCE_SECONDS)  # however busy the machine is
        patch.setitem(COURSE.steps, "export", waiting)
        async with screens(staffed) as (app, pilot):
            await open_agents(app, pilot, "worker")
            await pilot.press("D")
            await agree(app, pilot)
            await until_shown(app, pilot, "packing for ever")
            await pilot.press("escape", "q", "right", "enter")
    assert staffed.home.agent_file("worker").exists()
    async with staffed.pinfold() as pinfold:
        (operation,) = await pinfold.operations.all()
        assert operation.state.value == "cancelled"


async def failing(_: Run) -> str:
    """A step that fails."""
    raise OperationError("the disk is full", fix="Free some space.")


async def test_a_step_that_fails_says_why_and_a_retry_goes_on_there_once_that_was_mended(staffed, monkeypatch) -> None:
    from services.operations.purging import COURSE

    with monkeypatch.context() as patch:
        patch.setitem(COURSE.steps, "seal", failing)
        async with screens(staffed) as (app, pilot):
            await open_agents(app, pilot, "worker")
            await pilot.press("D")
            await agree(app, pilot)
            await until_shown(
                app, pilot, "✗ failed    seal the archive", "the disk is full", "It failed; screen 4 lists it"
            )
            await pilot.press("escape", "4")
            await until_shown(app, pilot, "Under way 1", "seal the archive: the disk is full", "t retry")
            patch.undo()
            await pilot.press("t")
            await until_shown(app, pilot, "✓ sealed", "worker is deleted, and kept in")
            assert "Under way" not in shown(app)
