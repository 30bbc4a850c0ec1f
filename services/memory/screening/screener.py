"""Screening off the event loop, since the scan of a long text takes a tenth of a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from services.home import BlockingCalls
from services.memory.screening.screening import Screened, Screening


class Screener:
    """Screens as the settings say at that moment.

    Args:
        settings: Asked for every text.
        calls: Threads.
    """

    def __init__(self, settings: Callable[[], Screening], calls: BlockingCalls) -> None:
        self._settings = settings
        self._calls = calls

    @property
    def screening(self) -> Screening:
        """What is done about threats and secrets."""
        return self._settings()

    async def screen(self, content: str) -> Screened:
        """Scan a text that is to be stored.

        Raises:
            InputRefused: It holds what is rejected.
        """
        return await self._calls.run(self.screening.screen, content)

    async def for_agents(self, contents: Sequence[str]) -> list[str]:
        """Stored texts as agents are given them: one that may make them do harm is only named."""
        screening = self.screening
        return await self._calls.run(lambda: [screening.for_agents(content) for content in contents])

    async def withheld(self, contents: Sequence[str]) -> list[bool]:
        """Which of some stored texts are kept from agents."""
        screening = self.screening
        return await self._calls.run(lambda: [screening.withholds(content) for content in contents])
