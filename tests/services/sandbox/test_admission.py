"""A start and whatever is done to the agent as a whole keep each other out, and each is told why."""

from __future__ import annotations

import pytest

from services.errors import SessionRefused
from services.home import Home
from services.sandbox.admission import Admission
from tests.support.sessions import World


@pytest.fixture
def world(home: Home) -> World:
    world = World(home)
    world.agent("worker", "true")
    return world


async def test_a_start_holds_the_lock_of_its_agent_while_it_is_recorded(world: World):
    lock = world.home.agent_lock("worker")
    async with world.pinfold(supervise=False) as pinfold:
        async with Admission(world.home, pinfold.calls).of(pinfold.agents.get("worker")):
            assert not lock.try_acquire()
        assert lock.try_acquire()
        lock.release()


async def test_whatever_holds_the_agent_is_named(world: World):
    async def held_by(alias: str) -> str:
        return f"{alias} is being renamed"

    async with world.pinfold(supervise=False) as pinfold:
        with pytest.raises(SessionRefused, match="worker is being renamed"):
            async with Admission(world.home, pinfold.calls, held_by).of(pinfold.agents.get("worker")):
                pass


async def test_a_lock_that_somebody_keeps_is_a_reason_to_refuse(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("services.sandbox.admission._LOCK_SECONDS", 0.05)
    with world.home.agent_lock("worker"):
        async with world.pinfold(supervise=False) as pinfold:
            with pytest.raises(SessionRefused, match="another Pinfold is changing it"):
                async with Admission(world.home, pinfold.calls).of(pinfold.agents.get("worker")):
                    pass


async def test_an_agent_that_went_while_its_start_was_planned_is_refused(world: World):
    async with world.pinfold(supervise=False) as pinfold:
        agent = pinfold.agents.get("worker")
        world.home.agent_dir("worker").rename(world.home.agent_dir("digger"))
        with pytest.raises(SessionRefused, match="is there no more"):
            async with Admission(world.home, pinfold.calls).of(agent):
                pass
