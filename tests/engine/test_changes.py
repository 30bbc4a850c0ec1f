"""Being told that something may have changed, and that the engine was lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from services.errors import EngineUnavailable
from services.home import BlockingCalls
from services.sandbox.engines.docker import DockerEngine
from tests.engine.sandboxes import Sandboxes
from tests.engine.socket_proxy import SocketProxy

SECONDS = 20.0


async def next_change(changes: AsyncGenerator[None, None]) -> None:
    async with asyncio.timeout(SECONDS):
        await anext(changes)


async def test_the_first_comes_at_once_and_one_for_every_change(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    async with aclosing(engine.changes()) as changes:
        await next_change(changes)
        sandbox = await engine.create(sandboxes.spec("sleep", "60"), {})
        await next_change(changes)
        await engine.start(sandbox)
        await next_change(changes)
        await engine.signal(sandbox, "KILL")
        await next_change(changes)
        await engine.remove(sandbox)
        await next_change(changes)


async def test_what_concerns_other_homes_or_only_a_command_inside_is_no_change(
    engine: DockerEngine, sandboxes: Sandboxes, calls: BlockingCalls, docker_host: str
) -> None:
    other = DockerEngine("e" * 16, calls, {"DOCKER_HOST": docker_host})
    sandbox = await engine.create(sandboxes.spec("sleep", "60"), {})
    await engine.start(sandbox)
    async with aclosing(engine.changes()) as ours, aclosing(other.changes()) as theirs:
        await next_change(ours)
        await next_change(theirs)
        await engine.run(sandbox, ("true",))
        foreign = asyncio.create_task(next_change(theirs))
        await engine.signal(sandbox, "KILL")
        await next_change(ours)  # the end, and nothing before it
        assert (await engine.inspect(sandbox)).status == "exited"
        assert not foreign.done()
        foreign.cancel()
        await asyncio.gather(foreign, return_exceptions=True)
    await other.close()


async def test_something_may_have_changed_also_when_nothing_was_told(
    engine: DockerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.sandbox.engines.docker.events._SWEEP_SECONDS", 0.2)
    monkeypatch.setattr("services.sandbox.engines.docker.events.SILENCE_SECONDS", 0.1)
    async with aclosing(engine.changes()) as changes:
        for _ in range(3):
            await next_change(changes)


async def test_a_lost_connection_ends_it(through_proxy: DockerEngine, proxy: SocketProxy) -> None:
    async with aclosing(through_proxy.changes()) as changes:
        await next_change(changes)
        await proxy.cut()
        with pytest.raises(EngineUnavailable):
            await next_change(changes)
    await proxy.start()
    async with aclosing(through_proxy.changes()) as changes:
        await next_change(changes)


async def test_a_frozen_engine_ends_it(
    through_proxy: DockerEngine, proxy: SocketProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("api", "events"):
        monkeypatch.setattr(f"services.sandbox.engines.docker.{module}.SILENCE_SECONDS", 0.3)
    async with aclosing(through_proxy.changes()) as changes:
        await next_change(changes)
        proxy.freeze()
        with pytest.raises(EngineUnavailable, match="sends nothing"):
            await next_change(changes)


async def test_control_calls_give_a_frozen_engine_up_and_go_on_after_it(
    through_proxy: DockerEngine, sandboxes: Sandboxes, proxy: SocketProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.sandbox.engines.docker.api.SILENCE_SECONDS", 0.3)
    monkeypatch.setattr("services.sandbox.engines.docker.control.CALL_SECONDS", 0.3)
    sandbox = await through_proxy.create(sandboxes.spec("sleep", "60"), {})
    await through_proxy.start(sandbox)
    proxy.freeze()
    calls = [through_proxy.inspect(sandbox) for _ in range(12)]  # more than there are threads
    async with asyncio.timeout(SECONDS):
        found = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(each, EngineUnavailable) for each in found)
    proxy.thaw()
    assert (await through_proxy.inspect(sandbox)).status == "running"


async def test_a_busy_engine_is_waited_for(
    engine: DockerEngine, sandboxes: Sandboxes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that lasts is no sign of a frozen engine while others are answered."""
    monkeypatch.setattr("services.sandbox.engines.docker.control.CALL_SECONDS", 0.01)
    sandbox = await engine.create(sandboxes.spec("true"), {})
    await engine.start(sandbox)
