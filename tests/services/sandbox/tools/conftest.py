"""A desk at which tools are called."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.home import Home
from tests.services.sandbox.tools.desk import Desk, DeskWorld
from tests.services.sandbox.tools.serving import served


@pytest.fixture
def desk_world(home: Home) -> DeskWorld:
    return DeskWorld(home)


@pytest.fixture
async def desk(desk_world: DeskWorld) -> AsyncIterator[Desk]:
    async with desk_world.pinfold(supervise=False) as pinfold:
        desk = Desk(pinfold)
        await desk.session()
        yield desk


@pytest.fixture(scope="module")
async def served_desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """A desk whose tools are served in this process, for all tests of a module."""
    world = DeskWorld(Home(tmp_path_factory.mktemp("served") / "home"))
    world.agent("stranger", profile="free")
    async with world.pinfold(supervise=False) as pinfold, served(pinfold):
        yield Desk(pinfold)
