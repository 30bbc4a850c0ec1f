"""How a Pinfold that closes lets go of what it was doing, within moments."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from services.errors import PinfoldError
from services.sandbox.model import Session


async def end_start(task: asyncio.Task[Session]) -> None:
    """Cancel a task unless that was done before, and wait until it has put its things in order."""
    if not task.cancelling():
        task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # was told to whoever iterates, or nobody does


async def within(seconds: float, *work: Coroutine[None, None, None]) -> None:
    """Do things side by side and leave behind what does not end in time."""
    tasks = {asyncio.ensure_future(each) for each in work}
    done, hanging = await asyncio.wait(tasks, timeout=seconds)
    for task in hanging:
        task.cancel()
    for task in done:
        error = task.exception()
        if error is not None and not isinstance(error, PinfoldError):
            raise error
