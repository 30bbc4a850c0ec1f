"""Sandboxes that outlive their session carry an alias in their label that no engine can change."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.pinfold import Pinfold
from services.sandbox import Session
from tests.services.operations.conftest import done
from tests.support.sessions import World, cleaned_up, ran


@pytest.fixture
async def opened(world: World) -> AsyncIterator[Pinfold]:
    async with cleaned_up(world):
        world.agent("worker", "echo done", sandbox="lifecycle = 'persistent'")
        async with world.pinfold() as pinfold:
            yield pinfold


@pytest.fixture
async def kept(opened: Pinfold) -> Session:
    session = await ran(opened, "worker")
    assert session.sandbox
    return session


async def test_they_go_with_their_agent_when_it_is_deleted(opened: Pinfold, kept: Session):
    plan = await opened.operations.plan_delete("worker")
    assert any(effect.what == "sandboxes" and effect.rows == 1 for effect in plan.effects)
    await done(opened, plan)
    assert await opened.sandboxes.sessions() == [
        one for one in await opened.sandboxes.sessions() if one.agent != "worker"
    ]
    engine = opened.sandboxes._roster.get(kept.engine)
    assert kept.sandbox not in [sandbox.id for sandbox in await engine.list()]


async def test_they_are_found_by_their_session_once_it_is_renamed(opened: Pinfold, kept: Session):
    plan = await opened.operations.plan_rename("worker", "digger")
    assert any("keep the old alias in their label" in note for note in plan.notes)
    await done(opened, plan)
    assert await opened.sandboxes.find_orphans() == ()
    found = await opened.sandboxes.session(kept.id)
    assert (found.agent, found.sandbox) == ("digger", kept.sandbox)
    await opened.sandboxes.remove(kept.id)
    engine = opened.sandboxes._roster.get(kept.engine)
    assert kept.sandbox not in [sandbox.id for sandbox in await engine.list()]
