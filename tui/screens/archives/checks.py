"""Verifying and comparing archives beside the screen: how far each is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tui.host import Host, host
from tui.screens.archives.findings import comparison_lines, progress_lines, progress_text, verification_lines
from tui.text import safe
from tui.widgets.table import Cell

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.worker import Worker

    from services.archives import Comparison, KeptFile, Progress, Verification, Work

T = TypeVar("T")


@dataclass(eq=False)
class Check:
    """Some work on one archive.

    Attributes:
        what: What is done, clean.
        progress: What was told last.
    """

    what: str
    worker: Worker[None] | None = None
    progress: Progress | None = None


class Checks:
    """Verifies and compares archives.

    Args:
        screen: Its tasks end with it.
        changed: Told when there is something new of an archive, by its id.
    """

    def __init__(self, screen: Screen[Any], changed: Callable[[str], None]) -> None:
        self._screen = screen
        self._changed = changed
        self._verifying: dict[str, Check] = {}
        self._comparing: dict[str, Check] = {}
        self._verified: dict[str, Verification] = {}
        self._compared: dict[str, Comparison] = {}

    @property
    def _host(self) -> Host:
        return host(self._screen)

    def standing(self, archive: str) -> str:
        """How far the verification of an archive is; "" when none runs."""
        check = self._verifying.get(archive)
        return progress_text(check.progress) if check is not None else ""

    def verify(self, archive: str) -> None:
        """Recompute every checksum of an archive."""
        if archive not in self._verifying:
            check = self._verifying[archive] = Check(f"verifying {safe(archive)}")
            check.worker = self._host.begin(self._screen, "archive verify", self._verify, archive, check)
            self._changed(archive)

    def compare(self, archive: str, other: str, *, living: bool) -> None:
        """Set an archive against another one, by its id, or a living agent, by its alias."""
        if (running := self._comparing.get(archive)) is not None and running.worker is not None:
            running.worker.cancel()
        check = self._comparing[archive] = Check(f"comparing with {safe(other)}")
        check.worker = self._host.begin(self._screen, "archive compare", self._compare, archive, other, living, check)
        self._changed(archive)

    def running(self, archive: str) -> bool:
        """Whether anything is done with an archive."""
        return archive in self._verifying or archive in self._comparing

    def stop(self, archive: str) -> None:
        """Give up what is done with an archive."""
        for check in (self._verifying.get(archive), self._comparing.get(archive)):
            if check is not None and check.worker is not None:
                check.worker.cancel()

    def verification(self, archive: str, files: tuple[KeptFile, ...]) -> Iterator[Cell]:
        """Write what verifying found, or how far it is; nothing when it was not done here."""
        if (check := self._verifying.get(archive)) is not None:
            yield from progress_lines(check.what, check.progress)
        elif (found := self._verified.get(archive)) is not None:
            yield from verification_lines(found, files)

    def comparison(self, archive: str) -> Iterator[Cell]:
        """Write what comparing found, or how far it is; nothing when it was not done here."""
        if (check := self._comparing.get(archive)) is not None:
            yield from progress_lines(check.what, check.progress)
        elif (found := self._compared.get(archive)) is not None:
            yield from comparison_lines(found)

    async def _verify(self, archive: str, check: Check) -> None:
        try:
            found = await self._follow(archive, check, self._host.pinfold.archives.verify(archive))
            self._verified[archive] = found
            intact = "is intact" if found.intact else "is not as it was"
            self._host.told(f"{archive} {intact}")
        finally:
            self._verifying.pop(archive, None)
            self._changed(archive)

    async def _compare(self, archive: str, other: str, living: bool, check: Check) -> None:
        from services.archives import LivingAgent

        pinfold = self._host.pinfold
        try:
            side: str | LivingAgent = other
            if living:
                agent = pinfold.agents.get(other)
                side = LivingAgent(other, agent.file, agent.workspace, pinfold.agent_memories.of(other))
            found = await self._follow(archive, check, pinfold.archives.compare(archive, side))
            self._compared[archive] = found
        finally:
            if self._comparing.get(archive) is check:
                del self._comparing[archive]
            self._changed(archive)

    async def _follow(self, archive: str, check: Check, work: Work[T]) -> T:
        from services.archives import Done

        async with aclosing(work) as told:
            async for event in told:
                if isinstance(event, Done):
                    return event.result
                check.progress = event
                self._changed(archive)
        raise AssertionError("the work ended without a result")
