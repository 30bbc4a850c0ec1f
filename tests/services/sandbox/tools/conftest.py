"""A desk at which tools are called."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.home import Home
from tests.services.sandbox.tools.desk import Desk, DeskWorld


@pytest.fixture
def desk_world(home: Home) -> DeskWorld:
    return DeskWorld(home)


@pytest.fixture
async def desk(desk_world: DeskWorld) -> AsyncIterator[Desk]:
    async with desk_world.pinfold(supervise=False) as pinfold:
        desk = Desk(pinfold)
        await desk.session()
        yield desk
