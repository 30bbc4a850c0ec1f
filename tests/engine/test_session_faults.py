"""Sessions whose engine freezes, goes away or is killed under them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from services.errors import EngineUnavailable, SessionError
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import SessionState
from tests.engine.conftest import build_test_image
from tests.engine.private_engine import PrivateEngine
from tests.engine.socket_proxy import SocketProxy
from tests.engine.worlds import docker_world
from tests.support.sessions import (
    World,
    cleaned_up,
    echo_lines,
    ended,
    eventually,
    lines_of,
    logged,
    printed,
    started,
    until,
)

KEPT = "lifecycle = 'persistent'"


@pytest.fixture
async def world(home: Home, proxy: SocketProxy, image: str) -> AsyncIterator[World]:
    """A home that reaches its engine through a connection that can fail."""
    async with cleaned_up(docker_world(home, proxy.host, image)) as world:
        yield world


async def docker_is(pinfold: Pinfold, *, usable: bool) -> None:
    async def is_told() -> bool:
        return next(status.usable for status in pinfold.sandboxes.engines() if status.name == "docker") is usable

    await eventually(is_told)


async def test_a_lost_connection_changes_no_session_and_costs_no_line(world: World, proxy: SocketProxy):
    world.agent(script=echo_lines(300, 0.01), sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "line 10")
        await proxy.cut()
        await docker_is(pinfold, usable=False)
        assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING
        await proxy.start()
        found = await ended(pinfold, session.id)
        assert found.state is SessionState.EXITED
        assert await lines_of(pinfold, session.id) == [f"line {number}" for number in range(1, 301)]
        await docker_is(pinfold, usable=True)


async def test_a_stop_that_cannot_reach_the_engine_says_so_and_leaves_the_session_running(
    world: World, proxy: SocketProxy
):
    world.agent(script="echo up; sleep 600", sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "up")
        await proxy.cut()
        with pytest.raises(SessionError, match="was not stopped"):
            await pinfold.sandboxes.stop(session.id)
        found = await pinfold.sandboxes.session(session.id)
        assert found.state is SessionState.RUNNING
        assert "could not be stopped" in found.detail
        assert "session.stop failed" in await logged(pinfold, session.id)
        await proxy.start()
        assert (await pinfold.sandboxes.kill(session.id)).state is SessionState.STOPPED


async def test_an_ended_session_whose_engine_is_away_is_cleaned_up_when_it_is_back(world: World, proxy: SocketProxy):
    world.agent(script="echo done", sandbox=KEPT)
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        assert (await ended(pinfold, session.id)).sandbox
        await proxy.cut()
        with pytest.raises(EngineUnavailable):
            await pinfold.sandboxes.remove(session.id)
        assert (await pinfold.sandboxes.session(session.id)).sandbox
        await proxy.start()
        await pinfold.sandboxes.remove(session.id)
        assert await pinfold.sandboxes.sessions() == []


async def test_a_frozen_engine_holds_up_nothing_but_itself(world: World, proxy: SocketProxy):
    world.agent(script=echo_lines(200, 0.01), sandbox=KEPT)
    world.agent("near", script="echo here", engine="local")
    async with world.pinfold() as pinfold:
        session = await started(pinfold)
        await printed(pinfold, session.id, "line 10")
        proxy.freeze()
        near = await ended(pinfold, (await started(pinfold, "near")).id)
        assert await lines_of(pinfold, near.id) == ["here"]
        assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING
        proxy.thaw()
        assert (await ended(pinfold, session.id)).state is SessionState.EXITED
        assert await lines_of(pinfold, session.id) == [f"line {number}" for number in range(1, 201)]


async def test_a_killed_engine_that_comes_back_tells_how_its_sessions_ended(home: Home, private_engine: PrivateEngine):
    image = build_test_image(private_engine.host)
    async with cleaned_up(docker_world(home, private_engine.host, image)) as world:
        world.agent(script="echo up; sleep 600", sandbox=KEPT)
        async with world.pinfold() as pinfold:
            session = await started(pinfold)
            await printed(pinfold, session.id, "up")
            await asyncio.to_thread(private_engine.kill)
            await docker_is(pinfold, usable=False)
            assert (await pinfold.sandboxes.session(session.id)).state is SessionState.RUNNING
            await asyncio.to_thread(private_engine.start)
            found = await until(pinfold, session.id, lambda now: now.state.ended)
            assert found.state is SessionState.KILLED
            assert found.exit_code in (137, 143)  # by the engine's TERM, or its KILL after that
            assert await lines_of(pinfold, session.id) == ["up"]
