"""The engine's event stream: when something may have changed with this home's sandboxes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from services.errors import EngineUnavailable
from services.sandbox.engines.docker.api import SILENCE_SECONDS, Api
from services.sandbox.engines.docker.container import HOME_LABEL

_KINDS = ("create", "start", "die", "oom", "pause", "unpause", "rename", "update", "destroy")
"""What can change a sandbox's state; commands run inside one are none of it."""

_SWEEP_SECONDS = 30.0
"""So often something is taken to have changed anyway: the engine forgets events."""


async def changes(api: Api, home_id: str) -> AsyncGenerator[None, None]:
    """Yield once subscribed, then whenever events came, and twice a minute in any case.

    What happened is not told: the engine keeps few events and loses them in a restart, so only looking again is sure.

    Raises:
        EngineUnavailable: The connection was lost, or the engine hangs.
    """
    filters = {"type": ["container"], "event": list(_KINDS), "label": [f"{HOME_LABEL}={home_id}"]}
    query = {"filters": msgspec.json.encode(filters).decode()}
    loop = asyncio.get_running_loop()
    with await api.open("cannot follow the engine's events", "GET", "/events", query) as stream:
        yield
        swept = loop.time()
        while True:
            data = await stream.read_within(SILENCE_SECONDS)
            if data == b"":
                raise EngineUnavailable(
                    "the docker engine's events ended", why="the engine was stopped or the connection was lost"
                )
            if data is None:
                await api.ping()
            if data is not None or loop.time() - swept >= _SWEEP_SECONDS:
                swept = loop.time()
                yield
