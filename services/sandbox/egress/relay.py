"""Bytes in both directions until both ends are done, or nothing moves any more."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

PIECE = 64 * 1024
"""Bytes moved at once, and kept for a side that is slow."""


class Idle:
    """Ends what does not move.

    Args:
        seconds: How long nothing may happen.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._moved_at = self._loop.time()

    def moved(self) -> None:
        """Something happened."""
        self._moved_at = self._loop.time()

    async def expired(self) -> None:
        """Return once nothing has happened for so long."""
        while (left := self._moved_at + self._seconds - self._loop.time()) > 0:  # noqa: ASYNC110 - time alone ends it
            await asyncio.sleep(left)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle: Idle) -> None:
    """Move bytes from one side to the other until the first ends, and say so to the second.

    Raises:
        OSError: A side broke off.
    """
    while data := await reader.read(PIECE):
        idle.moved()
        writer.write(data)
        await writer.drain()
        idle.moved()
    if writer.can_write_eof():
        writer.write_eof()


async def while_moving(idle: Idle, *work: Coroutine[Any, Any, None], last: int = 0) -> None:
    """Do things side by side until all are done, one fails, or nothing moves any more.

    Args:
        idle: Touched by the work.
        work: What to do.
        last: Once this one is done nothing else matters, counted from 1; 0 waits for all.
    """
    tasks = [asyncio.ensure_future(each) for each in work]
    watch = asyncio.ensure_future(idle.expired())
    try:
        waiting = set(tasks)
        while waiting:
            done, _ = await asyncio.wait({*waiting, watch}, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {watch}:
                task.result()
            if watch in done or (last and tasks[last - 1] in done):
                return
            waiting -= done
    finally:
        for task in (*tasks, watch):
            task.cancel()
        await asyncio.gather(*tasks, watch, return_exceptions=True)
