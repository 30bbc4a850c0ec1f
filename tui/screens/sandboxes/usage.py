"""What sessions use, taken from the engines only while their rows are on screen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from textual.dom import DOMNode
from textual.worker import Worker

from services.errors import EngineError
from tui.host import host
from tui.session_columns import UsageHistory

_RETRY_SECONDS = 5.0


class UsageWatch:
    """Keeps one stream for each session watched.

    Args:
        node: The screen; streams end with it.
    """

    def __init__(self, node: DOMNode) -> None:
        self._node = node
        self._streams: dict[str, Worker[None]] = {}
        self._histories: dict[str, UsageHistory] = {}

    @property
    def watched(self) -> frozenset[str]:
        """The ids of the sessions whose streams are open."""
        return frozenset(self._streams)

    def watch(self, sessions: Iterable[str]) -> None:
        """Open streams for these sessions and close all others."""
        wanted = set(sessions)
        for session in self._streams.keys() - wanted:
            self._streams.pop(session).cancel()
        for session in wanted - self._streams.keys():
            self._streams[session] = host(self._node).begin(self._node, "usage", self._take, session)

    def history(self, session: str) -> UsageHistory | None:
        """What was taken of a session so far."""
        return self._histories.get(session)

    async def _take(self, session: str) -> None:
        while True:
            try:
                async for usage in host(self._node).pinfold.sandboxes.usage(session):
                    history = self._histories.setdefault(session, UsageHistory())
                    if usage.cpu is not None:
                        history.cpu.append(usage.cpu)
                    history.memory.append(usage.memory)
                    history.memory_limit = usage.memory_limit
                return
            except EngineError:  # said in the bar at the top; the figures just stop
                self._histories.pop(session, None)
                await asyncio.sleep(_RETRY_SECONDS)
