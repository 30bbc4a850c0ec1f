"""A home whose agent `reviewer` has one of everything, made once and copied for each test."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.home import Home
from services.operations import Operation, Plan
from services.pinfold import Pinfold
from tests.support.estates import settle
from tests.support.sessions import World


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home that is copied; never changed."""
    root = tmp_path_factory.mktemp("settled") / "home"
    asyncio.run(settle(World(Home(root))))
    return root


@pytest.fixture
def world(settled: Path, tmp_path: Path) -> World:
    root = tmp_path / "home"
    shutil.copytree(settled, root, symlinks=True)
    return World.existing(Home(root))


@pytest.fixture
async def pinfold(world: World) -> AsyncIterator[Pinfold]:
    async with world.pinfold(supervise=False) as pinfold:
        yield pinfold


async def done(pinfold: Pinfold, plan: Plan) -> Operation:
    """Carry out a plan to its end."""
    told = [progress async for progress in pinfold.operations.carry_out(plan)]
    return told[-1].operation


async def retried(pinfold: Pinfold, operation: str) -> Operation:
    """Retry an operation to its end."""
    told = [progress async for progress in pinfold.operations.retry(operation)]
    return told[-1].operation
