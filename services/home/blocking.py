"""The one way to make a blocking call from asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = 8


class BlockingCalls:
    """Threads for calls that wait on a disk, an engine or a hash; the event loop goes on meanwhile.

    A pool of its own: calls that hang (a frozen engine) cannot starve name look-ups or other users of the default one.
    """

    def __init__(self, threads: int = _THREADS, name: str = "pinfold") -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `call` in a thread and return its result or raise its error."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))

    def close(self) -> None:
        """Take no more calls; does not wait for one that hangs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
