"""Sandboxes that are followed into a spool beside a test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from docker import APIClient
from docker.types import LogConfig

from services.sandbox.engines.docker import DockerEngine
from services.sandbox.model import SandboxSpec
from tests.engine.conditions import eventually
from tests.engine.sandboxes import Sandboxes
from tests.engine.spools import Spool


async def started(engine: DockerEngine, spec: SandboxSpec) -> str:
    sandbox = await engine.create(spec, {})
    await engine.start(sandbox)
    return sandbox


def made_outside(api: APIClient, sandboxes: Sandboxes, script: str, log: dict[str, str], **config: Any) -> str:
    """Make a sandbox of this home as Pinfold itself would not make it."""
    host = api.create_host_config(log_config=LogConfig(type="local", config=log), network_mode="none")
    labels = {"pinfold.home": sandboxes.home_id, "pinfold.session": "outside", "pinfold.agent": "reviewer"}
    made = api.create_container(sandboxes.image, ["sh", "-c", script], labels=labels, host_config=host, **config)
    return str(made["Id"])


async def until_ended(engine: DockerEngine, sandbox: str) -> None:
    async def exited() -> bool:
        return (await engine.inspect(sandbox)).status == "exited"

    await eventually(exited)


@contextlib.asynccontextmanager
async def following(engine: DockerEngine, sandbox: str, spool: Spool) -> AsyncIterator[asyncio.Task[None]]:
    """Follow beside the test; waits for the end unless the test cancels it."""
    task = asyncio.create_task(engine.follow(sandbox, spool.writer))
    try:
        yield task
        if not task.cancelled():
            async with asyncio.timeout(60):
                await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
