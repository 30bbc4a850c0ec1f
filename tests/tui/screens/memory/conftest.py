"""A home whose memory is read and changed on screen; one app for all tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input

from services.home import Home
from services.memory import AgentMemory, Namespace, Scope, ScopeKind
from services.pinfold import Pinfold
from tests.support.sessions import World, cleaned_up
from tests.tui.conftest import screens, shown, until
from tui.app import PinfoldApp
from tui.screens.memory import MemoryScreen
from tui.screens.memory.operations.catalogue import OPERATIONS
from tui.screens.memory.operations.choosing import OperationForm
from tui.screens.memory.places import Place, ScopeKeys
from tui.widgets.choice import Choice
from tui.widgets.typing_line import TypingLine

USER = Scope.parse("user:42")


class Desk(NamedTuple):
    """The app on the screen of memory."""

    app: PinfoldApp
    pilot: Pilot[None]
    home: Home
    told: list[str]
    """What was told in toasts, which go by themselves."""

    @property
    def screen(self) -> Any:
        (found,) = [screen for screen in self.app.screen_stack if isinstance(screen, MemoryScreen)]
        return found

    @property
    def pinfold(self) -> Pinfold:
        return self.app.pinfold

    @property
    def table(self) -> Any:
        return self.screen._listing.table

    @property
    def viewer(self) -> Any:
        return self.screen._viewer

    def keys(self, scope: Scope | str = USER) -> Namespace:
        return self.pinfold.memory.namespace(Scope.parse(scope) if isinstance(scope, str) else scope)

    def memory(self, alias: str = "reviewer") -> AgentMemory:
        return self.pinfold.agent_memories.of(alias)

    async def until(self, condition: Any) -> None:
        await until(condition, self.pilot)

    async def until_shown(self, *texts: str) -> None:
        """Wait until texts are on the screen, or were told."""
        await until(lambda: all(self._is_shown(text) for text in texts), self.pilot)

    def _is_shown(self, text: str) -> bool:
        return any(text in told for told in self.told) or text in shown(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def show(self, place: Place | Scope = USER, item: str = "", *, rows: int = 1) -> None:
        """Show a place, with the cursor on a row, once at least so many rows are there."""
        place = ScopeKeys(place) if isinstance(place, Scope) else place
        self.screen.show_place(place, item)
        self.table.focus()
        await self.until(lambda: self.table.total >= rows and (not item or self.item == item))
        if rows:
            await self.until(lambda: self.viewer.item is not None and self.viewer.item.id == self.item)

    @property
    def item(self) -> str:
        """The id of the row under the cursor; "" without one."""
        return self.table.row.id if self.table.row is not None else ""

    async def operate(self, operation: str, **typed: str) -> None:
        """Open the form of an operation, fill it in, and give it."""
        wanted = next(each for each in OPERATIONS if each.id == operation)
        self.screen._changing.ask(wanted)
        await self.until(lambda: isinstance(self.app.screen, OperationForm) and self.app.screen.query("#yes"))
        form: Any = self.app.screen
        for key, text in typed.items():
            control = form._inputs[key]
            assert isinstance(control, TypingLine | Choice)
            control.value = text
        form.action_go()

    async def until_closed(self) -> None:
        await self.until(lambda: not isinstance(self.app.screen, ModalScreen))

    async def undo(self) -> None:
        """Take the last change back."""
        before = len(self.screen._changing.undos._kept)
        await self.press("u")
        await self.until(lambda: len(self.screen._changing.undos._kept) == before - 1)

    async def type(self, text: str) -> None:
        """Put a text into the line or the editor that has the focus."""
        focused: Any = self.app.focused
        if isinstance(focused, Input):
            focused.insert_text_at_cursor(text)
        else:
            focused.insert(text)
        await self.pilot.pause()


@pytest.fixture(scope="package")
async def opened(tmp_path_factory) -> AsyncIterator[Desk]:
    """One app for all tests of this folder: to start it takes longer than what most of them do."""
    world = World(Home(tmp_path_factory.mktemp("memory") / "home"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in world.env.items():
            patch.setenv(name, value)
        async with cleaned_up(world), desk_on(world) as desk:
            yield desk


@asynccontextmanager
async def desk_on(world: World, size: tuple[int, int] = (140, 32)) -> AsyncIterator[Desk]:
    """The app on a world with agents, one of which keeps its memory in files, showing what is remembered."""
    for alias in ("helper", "reviewer"):
        world.agent(alias, "true")
    world.agent("keeper", "true", rest='[memory]\nbackend = "markdown"')
    async with screens(world, size) as (app, pilot):
        desk = Desk(app, pilot, world.home, [])
        notify = app.notify

        def telling(message: str, **how: Any) -> None:
            desk.told.append(f"{how.get('title', '')}\n{message}")
            notify(message, **how)

        app.notify = telling  # type: ignore[method-assign]
        await pilot.press("2")
        await desk.until(lambda: isinstance(app.screen, MemoryScreen) and desk.screen._tree.table.total)
        yield desk


@pytest.fixture
async def desk(opened: Desk) -> Desk:
    """The screen with nothing remembered, nothing open, nothing to take back."""
    while isinstance(opened.app.screen, ModalScreen):
        opened.app.pop_screen()
    screen = opened.screen
    screen._viewer.end()
    screen._reading.reveal, screen._reading.search = False, ""
    screen._reading.open = {"user", "team", "chat", "context"}
    screen._changing.undos._kept.clear()
    await forget_everything(opened.pinfold)
    screen._tree.drop_filter()
    screen.show_place(None)
    await screen._reading.read_tree()
    opened.app.clear_notifications()
    opened.told.clear()
    screen._tree.table.focus()
    return opened


async def forget_everything(pinfold: Pinfold) -> None:
    for kind in ScopeKind:
        for name in await pinfold.memory.scopes.ids(kind):
            await pinfold.memory.namespace(Scope(kind, name)).clear()
    for alias in ("keeper", "reviewer"):
        await pinfold.agent_memories.of(alias).purge()
    for tenant in await pinfold.core_memory.tenants.all():
        await pinfold.core_memory.tenants.remove(tenant)
