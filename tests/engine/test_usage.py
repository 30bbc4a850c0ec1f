"""What a sandbox uses, measured on a real one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from docker import APIClient

from services.sandbox.engines.docker import DockerEngine
from services.sandbox.model import Limits
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes

MIB = 1024 * 1024


async def test_samples_show_a_busy_processor_processes_and_memory_without_cache(
    engine: DockerEngine, sandboxes: Sandboxes
) -> None:
    script = """
    head -c 8000000 /dev/zero >cached; cat cached cached >/dev/null
    sleep 100 & sleep 100 & touch ready; while true; do :; done
    """
    limits = Limits(memory=128 * MIB, cpus=0.5, pids=64)
    sandbox = await engine.create(sandboxes.script(script, limits=limits), {})
    await engine.start(sandbox)
    await eventually((sandboxes.workspace / "ready").exists)
    samples = []
    async with asyncio.timeout(30), aclosing(engine.usage(sandbox)) as usage:
        async for sample in usage:
            samples.append(sample)
            if len(samples) == 3:
                break
    first, second, third = samples
    assert first.cpu is None
    assert second.cpu is not None
    assert third.cpu is not None
    assert 0.05 < third.cpu < 0.75
    assert third.cpu_seconds > second.cpu_seconds > first.cpu_seconds
    assert third.at > second.at > first.at
    assert third.memory_limit == 128 * MIB
    assert 0 < third.memory < 6 * MIB
    assert third.pids == 4  # the init, the shell and two sleepers


async def test_it_ends_with_the_sandbox(engine: DockerEngine, sandboxes: Sandboxes) -> None:
    sandbox = await engine.create(sandboxes.spec("sleep", "60"), {})
    await engine.start(sandbox)
    seen = 0
    async with asyncio.timeout(30), aclosing(engine.usage(sandbox)) as usage:
        async for _ in usage:
            seen += 1
            await engine.signal(sandbox, "KILL")
    assert seen
    assert [sample async for sample in engine.usage(sandbox)] == []


async def test_no_limit_is_told_as_none(engine: DockerEngine, sandboxes: Sandboxes, api: APIClient) -> None:
    sandbox = await engine.create(sandboxes.spec("sleep", "60", limits=Limits()), {})
    await engine.start(sandbox)
    async with asyncio.timeout(30), aclosing(engine.usage(sandbox)) as usage:
        assert (await anext(usage)).memory_limit is None
