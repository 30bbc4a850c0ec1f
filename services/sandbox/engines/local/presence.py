"""Wait for the end of a process that is not our child."""

from __future__ import annotations

import asyncio
import os

from services.sandbox.engines.local.supervisor import Process, open_process


async def until_gone(process: Process) -> None:
    """Return once this very process has ended."""
    descriptor = open_process(process)
    if descriptor is None:
        return
    loop = asyncio.get_running_loop()
    gone: asyncio.Future[None] = loop.create_future()

    def notice() -> None:
        if not gone.done():
            gone.set_result(None)

    loop.add_reader(descriptor, notice)
    try:
        await gone
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
