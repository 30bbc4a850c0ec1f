"""Waits for many quiet connections together, so that each is woken and read once for all that came in a moment."""

from __future__ import annotations

import asyncio
import select

_SECONDS = 0.05
"""How long what comes may gather after its first byte."""

_AT_ONCE = 16
"""How many are woken before others get their turn."""


class Rounds:
    """One look finds all connections that have something; nothing runs while none has.

    Args:
        seconds: From the first byte on any of them to the look.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._epoll: select.epoll | None = None
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._timer: asyncio.Handle | None = None
        self._listening = False

    def wait(self, descriptor: int) -> asyncio.Future[None]:
        """Begin to wait for a socket; call `leave` when the future is done or of no more use.

        Args:
            descriptor: Of a socket that nobody else waits for here.
        """
        if self._epoll is None:
            self._epoll = select.epoll()
        future = asyncio.get_running_loop().create_future()
        self._epoll.register(descriptor, select.EPOLLIN | select.EPOLLRDHUP)
        self._waiting[descriptor] = future
        if self._timer is None:
            self._listen(self._epoll)
        return future

    def leave(self, descriptor: int) -> None:
        """End a wait; does nothing after it was woken."""
        if self._epoll is not None and self._waiting.pop(descriptor, None) is not None:
            self._epoll.unregister(descriptor)

    def close(self) -> None:
        """Wake whoever waits, and stop."""
        self._stop_listening()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for future in self._waiting.values():
            _wake(future)
        self._waiting.clear()
        if self._epoll is not None:
            self._epoll.close()
            self._epoll = None

    def _listen(self, epoll: select.epoll) -> None:
        if not self._listening:
            asyncio.get_running_loop().add_reader(epoll.fileno(), self._something_came)
            self._listening = True

    def _stop_listening(self) -> None:
        if self._listening and self._epoll is not None:
            asyncio.get_running_loop().remove_reader(self._epoll.fileno())
        self._listening = False

    def _something_came(self) -> None:
        self._stop_listening()
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._epoll is None:
            return
        found = self._epoll.poll(0, _AT_ONCE)
        for descriptor, _ in found:
            future = self._waiting[descriptor]
            self.leave(descriptor)
            _wake(future)
        if len(found) == _AT_ONCE:
            self._timer = asyncio.get_running_loop().call_soon(self._look)
        elif self._waiting:
            self._listen(self._epoll)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
