"""Waiting for what must become true."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

BOUND = 30.0


async def eventually(condition: Callable[[], bool | Awaitable[bool]], seconds: float = BOUND) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not, within so many seconds.
    """
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if await holds if inspect.isawaitable(holds) else holds:
                return
            await asyncio.sleep(0.01)
