"""Writes the pages about the entry under the cursor, the one that is shown only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tui.host import Host, host, key_of
from tui.screens.archives.checks import Checks
from tui.screens.archives.detail import EntryDetail
from tui.screens.archives.entries import Entry
from tui.screens.archives.facts import fact_lines
from tui.screens.archives.reading import Reading
from tui.screens.operations.steps import step_lines

if TYPE_CHECKING:
    from textual.screen import Screen


class Pages:
    """Writes the pages of one screen.

    Args:
        screen: Its tasks end with it.
        detail: Where the pages are.
        reading: Has the archive open.
        checks: Verifies and compares.
        entry: Tells the entry under the cursor.
    """

    def __init__(
        self,
        screen: Screen[Any],
        detail: EntryDetail,
        reading: Reading,
        checks: Checks,
        entry: Callable[[], Entry | None],
    ) -> None:
        self._screen = screen
        self._detail = detail
        self._reading = reading
        self._checks = checks
        self._entry = entry

    @property
    def _host(self) -> Host:
        return host(self._screen)

    def write(self) -> None:
        """Write title and page anew."""
        entry = self._entry()
        self._detail.set_class(entry is None, "-none")
        if entry is None:
            self._detail.say("Archive", "")
            return
        self._detail.say(f"{entry.kind} {entry.alias}", entry.state)
        self.write_facts()
        self.write_steps()
        self.write_checks()

    def write_facts(self) -> None:
        """Write what is known, when that is the page shown."""
        if (entry := self._entry()) is not None and self._detail.tab == "facts":
            key = partial(key_of, self._screen)
            self._detail.show("facts", list(fact_lines(entry, self._reading.facts, self._host.now(), key)))

    def write_steps(self) -> None:
        """Write the steps, as they are told of while the operation is carried out here."""
        entry = self._entry()
        if entry is None or self._detail.tab != "steps":
            return
        operation = entry.operation
        undertaking = self._host.underway.of(operation.id) if operation is not None else None
        if undertaking is not None and undertaking.operation is not None:
            operation = undertaking.operation
        told = undertaking.told if undertaking is not None else {}
        lines = list(step_lines(operation, told, self._host.now())) if operation is not None else []
        self._detail.show("steps", lines)

    def write_checks(self) -> None:
        """Write what verifying or comparing found, when that is the page shown."""
        entry, tab = self._entry(), self._detail.tab
        if entry is not None and tab in ("verified", "compared"):
            self._host.begin(self._screen, "archive checks", self._write_checks, entry, tab)

    async def _write_checks(self, entry: Entry, tab: str) -> None:
        facts, checks = self._reading.facts, self._checks
        files = facts.manifest.files if facts is not None and facts.manifest is not None else ()
        archive = entry.archive.id if entry.archive is not None else ""
        writer = checks.comparison if tab == "compared" else partial(checks.verification, files=files)
        lines = await self._host.pinfold.calls.run(lambda: list(writer(archive)))
        now = self._entry()
        if now is not None and now.key == entry.key:
            self._detail.show(tab, lines)
