"""A home whose agent `reviewer` has one of everything, made once and copied for each test."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from services.errors import OperationRefused
from services.home import Home
from services.operations import Operation, Operations, Plan
from services.pinfold import Pinfold
from tests.support.estates import AGENT, settle
from tests.support.sessions import World


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home that is copied; never changed."""
    root = tmp_path_factory.mktemp("settled") / "home"
    asyncio.run(settle(World(Home(root))))
    return root


@pytest.fixture(scope="session")
def retired(settled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same home once the agent was deleted; never changed."""
    root = tmp_path_factory.mktemp("retired") / "home"
    shutil.copytree(settled, root, symlinks=True)
    asyncio.run(_carried_out(root, lambda operations: operations.plan_delete(AGENT)))
    return root


@pytest.fixture(scope="session")
def revived(retired: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same home once the agent was restored; never changed."""
    root = tmp_path_factory.mktemp("revived") / "home"
    shutil.copytree(retired, root, symlinks=True)
    (archive,) = (path.name for path in (root / "archives").iterdir())
    asyncio.run(_carried_out(root, lambda operations: operations.plan_restore(archive)))
    return root


async def _carried_out(root: Path, planned: Callable[[Operations], Awaitable[Plan]]) -> None:
    async with World.existing(Home(root)).pinfold(supervise=False) as pinfold:
        await done(pinfold, await planned(pinfold.operations))


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


def visible(found: dict[str, Any]) -> set[str]:
    """The names of what lies among the agents, of an estate."""
    return {name.split("/")[0] for name in found["files"]}


async def refusal(pinfold: Pinfold, alias: str = AGENT) -> str:
    """Why an agent cannot be deleted, as whoever asks for it is told."""
    plan = await pinfold.operations.plan_delete(alias)
    with pytest.raises(OperationRefused) as raised:
        await done(pinfold, plan)
    return str(raised.value)
