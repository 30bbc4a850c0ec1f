"""A tool server that every Pinfold left ends with the last sandbox it served."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from services.home import Home
from services.sandbox import SessionState
from services.sandbox.tools import Token
from tests.engine.conditions import eventually
from tests.engine.worlds import docker_world
from tests.services.sandbox.tools.serving import server_of
from tests.support.killing import doomed
from tests.support.sessions import World, cleaned_up, ended, logged


@pytest.fixture
async def world(home: Home, docker_host: str, image: str) -> AsyncIterator[World]:
    async with cleaned_up(docker_world(home, docker_host, image)) as world:
        yield world


async def test_with_its_pinfold_killed_a_server_outlives_no_sandbox_and_its_token_is_void(world: World) -> None:
    world.agent(script="while [ ! -e go ]; do sleep 0.05; done", sandbox='tools = "socket"')
    world.home.default_workspace("worker").chmod(0o777)
    async with world.pinfold(supervise=False) as looks:

        async def runs() -> bool:
            return SessionState.RUNNING in {session.state for session in await looks.sandboxes.sessions()}

        with doomed(world):
            await eventually(runs, 60)
        (session,) = await looks.sandboxes.sessions()
        token = Token((world.home.session_dir(session.id) / "shared" / "token").read_text().strip())
        assert await looks.tools.tokens.check(token) is not None
        assert server_of(world.home) is not None

        (world.home.default_workspace("worker") / "go").touch()
        await eventually(lambda: server_of(world.home) is None, 60)
        assert await looks.tools.tokens.check(token) is None
        assert await logged(looks, session.id) == ["session.start", "tools.revoke"]

    async with world.pinfold() as pinfold:  # nothing of the end is lost for who opens next
        assert (await ended(pinfold, session.id)).state is SessionState.EXITED
        assert (await logged(pinfold, session.id))[2:3] == ["session.end"]
