"""Control calls through the docker SDK, each in a thread with a time-out.

The SDK is imported at the first call, in the thread, since that takes an eighth of a second.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from services.errors import EngineUnavailable
from services.home import BlockingCalls
from services.sandbox.engines.docker.api import Api
from services.sandbox.engines.docker.failures import Refused, unavailable

if TYPE_CHECKING:
    from docker import APIClient

T = TypeVar("T")

CALL_SECONDS = 10.0
"""How long an engine that hangs is waited for; one that is merely busy gets `SLOW_SECONDS`."""

SLOW_SECONDS = 60.0

_AT_ONCE = 4
"""So that an engine that hangs never holds all threads."""


class Control:
    """The SDK's client of one engine.

    Args:
        api: The same engine, asked whether it is well when a call takes long.
        calls: The threads.
    """

    def __init__(self, api: Api, calls: BlockingCalls) -> None:
        self._api = api
        self._calls = calls
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._client: APIClient | None = None
        self._making = threading.Lock()
        self._running: set[asyncio.Task[object]] = set()

    async def call(self, what: str, method: Callable[[APIClient], T]) -> T:
        """Run `method` with the client in a thread.

        Args:
            what: What failed if it does, as a clause.
            method: Must not keep the client.

        Raises:
            Refused: The engine answered with an error.
            EngineUnavailable: It did not answer. What was asked for may have happened all the same.
        """
        task = asyncio.create_task(self._in_thread(what, method), name=f"docker: {what}")
        self._running.add(task)
        task.add_done_callback(self._forget)
        loop = asyncio.get_running_loop()
        until = loop.time() + SLOW_SECONDS
        while loop.time() < until:
            done, _ = await asyncio.wait({task}, timeout=CALL_SECONDS)
            if done:
                return task.result()
            await self._api.ping()
        raise EngineUnavailable(what, why=f"the engine did not finish within {SLOW_SECONDS:.0f} seconds")

    async def ask(self, what: str, kind: type[T], method: Callable[[APIClient], object]) -> T:
        """Run `method` like `call` and read its answer as `kind`; the engine may leave out fields or send null.

        Raises:
            EngineUnavailable: What answered is no Docker Engine.
        """
        answer = await self.call(what, method)
        try:
            return msgspec.convert(answer, kind, strict=False)
        except msgspec.ValidationError as error:
            raise unavailable(self._api.endpoint, error) from error

    async def close(self) -> None:
        """Free the client's idle connections; calls under way end by themselves, unheard."""
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._client is not None:
            self._client.close()

    async def _in_thread(self, what: str, method: Callable[[APIClient], T]) -> T:
        async with self._slots:
            result = await self._calls.run(self._guarded, what, method)
        if isinstance(result, Refused):
            raise result
        if isinstance(result, _Broken):
            await self._api.ping()
            raise unavailable(self._api.endpoint, ConnectionError(result.words))
        return result

    def _guarded(self, what: str, method: Callable[[APIClient], T]) -> T | Refused | _Broken:
        """Make the call; an error comes back as ours, without the SDK's, which holds the whole request."""
        import docker.errors
        import requests
        import urllib3

        from services.sandbox.engines.docker.sdk import open_client

        try:
            with self._making:
                if self._client is None:
                    self._client = open_client(self._api.endpoint, self._api.version, SLOW_SECONDS + 5)
            return method(self._client)
        except docker.errors.APIError as error:
            return Refused(what, int(error.status_code or 0), str(error.explanation or ""))
        except (
            docker.errors.DockerException,
            requests.RequestException,
            urllib3.exceptions.HTTPError,
            OSError,
        ) as error:
            return _Broken(str(error))

    def _forget(self, task: asyncio.Task[object]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not ask for it


@dataclass(frozen=True)
class _Broken:
    """A call that got no answer, in the SDK's words."""

    words: str
