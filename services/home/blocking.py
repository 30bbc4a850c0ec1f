"""The one way to make a blocking call from asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from services.errors import PinfoldError

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = 8


@dataclass(slots=True)
class _Call:
    run: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]

    def settle(self, result: object, error: BaseException | None) -> None:
        if self.future.done():  # the caller was cancelled meanwhile
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class BlockingCalls:
    """Threads for calls that wait on a disk, an engine or a hash; the event loop goes on meanwhile.

    A pool of its own: calls that hang (a frozen engine) starve nobody else, and its daemon threads never keep the
    process from ending, as those of `ThreadPoolExecutor` do.

    Args:
        threads: At most so many calls run at once; threads are started when first needed.
        name: Begins the threads' names.
    """

    def __init__(self, threads: int = _THREADS, name: str = "pinfold") -> None:
        self._limit = threads
        self._name = name
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._counting = threading.Lock()
        self._closed = False

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `call` in a thread and return its result or raise its error.

        Raises:
            PinfoldError: The pool was closed.
        """
        if self._closed:
            raise PinfoldError("Pinfold is closing", why="no more work is taken")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._counting:
            self._unfinished += 1
            if self._unfinished > len(self._threads) < self._limit:
                self._start_thread()
        self._calls.put(_Call(lambda: call(*args, **kwargs), loop, future))
        return await future

    def close(self) -> None:
        """Take no more calls; does not wait for one that hangs."""
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._work, name=f"{self._name}-{len(self._threads) + 1}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            result, error = None, None
            try:
                if not call.future.cancelled():
                    result = call.run()
            except BaseException as raised:
                error = raised
            with self._counting:
                self._unfinished -= 1
            with contextlib.suppress(RuntimeError):  # the loop was closed; nobody waits any more
                call.loop.call_soon_threadsafe(call.settle, result, error)
            del call, result, error
