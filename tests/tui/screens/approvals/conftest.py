"""An app on a home whose agent asks for the operator's word, for real."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from services.home import Home
from services.pinfold import Pinfold
from services.sandbox.tools import Reply
from tests.support.sessions import World, cleaned_up, started
from tests.tui.conftest import screens, shown, until
from tui.app import PinfoldApp
from tui.screens.approvals import ApprovalsDialog


class Counter(NamedTuple):
    """The app, and whoever asks it."""

    app: PinfoldApp
    pilot: Pilot[None]
    world: World
    session: str
    asking: dict[int, asyncio.Future[Reply]]
    """What was asked, by the number of the approval."""

    @property
    def pinfold(self) -> Pinfold:
        return self.app.pinfold

    @property
    def dialog(self) -> Any:
        assert isinstance(self.app.screen, ApprovalsDialog)
        return self.app.screen

    @property
    def under_cursor(self) -> str:
        """The tool of the call under the cursor, and what became of it."""
        asked = self.dialog._table.row
        return f"{asked.row.tool} {asked.fate}".strip()

    async def ask(self, tool: str = "memory_store", *, seconds: float = 300.0, **more: Any) -> int:
        """Ask for the operator's word, and return the number once the app knows."""
        known = {approval.number for approval in await self.pinfold.approvals.waiting()}
        described = {"summary": "key=indent, content=four spaces", "reason": "no list approves it"}
        asking = self.pinfold.approvals.ask(self.session, "worker", tool, seconds=seconds, **(described | more))
        future = asyncio.ensure_future(asking)
        async with asyncio.timeout(20):
            while not (new := {each.number for each in await self.pinfold.approvals.waiting()} - known):
                await asyncio.sleep(0.01)
        (number,) = new
        self.asking[number] = future
        await self.until(lambda: number in {row.number for row in self.app.store.approvals})
        return number

    async def reply(self, number: int) -> Reply:
        async with asyncio.timeout(20):
            return await self.asking[number]

    async def until(self, condition: Any) -> None:
        await until(condition, self.pilot)

    async def until_shown(self, *texts: str) -> None:
        await self.until(lambda: all(text in shown(self.app) for text in texts))

    async def open(self) -> None:
        """Open the dialog with its key."""
        await self.pilot.press("A")
        await self.until_open()

    async def until_open(self) -> None:
        await self.until(lambda: isinstance(self.app.screen, ApprovalsDialog) and self.dialog._table.total)
        await self.pilot.pause()

    async def until_closed(self) -> None:
        await self.until(lambda: not isinstance(self.app.screen, ApprovalsDialog))


@pytest.fixture(scope="module")
async def opened(tmp_path_factory) -> AsyncIterator[Counter]:
    """One app with a session that runs, for all tests of a module."""
    world = World(Home(tmp_path_factory.mktemp("approvals") / "home"))
    world.agent("worker", "trap 'exit 0' INT TERM; while :; do sleep 0.1; done")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.env.items():
            patch.setenv(name, value)
        async with cleaned_up(world), screens(world) as (app, pilot):
            session = (await started(app.pinfold)).id
            await until(lambda: app.store.running, pilot)
            yield Counter(app, pilot, world, session, {})


@pytest.fixture
async def counter(opened: Counter) -> AsyncIterator[Counter]:
    """The app on its first screen with nothing that waits, nothing open, nothing told."""
    await opened.pilot.press("1")
    opened.app.clear_notifications()
    yield opened
    while isinstance(opened.app.screen, ModalScreen):
        opened.app.pop_screen()
    for asking in opened.asking.values():
        asking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asking
    opened.asking.clear()
    await opened.until(lambda: not opened.app.store.approvals)
