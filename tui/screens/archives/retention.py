"""Which archives are kept no longer: older, or together larger, than asked; listed before anything goes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, Static

from services.agents import parse_duration, parse_size
from services.errors import PinfoldError
from tui.figures import counted, size
from tui.host import host
from tui.screens.archives.purging import archive_line
from tui.screens.looking_ahead import LooksAhead
from tui.text import safe
from tui.widgets.field import Field
from tui.widgets.lines_view import LinesView
from tui.widgets.table import cell
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.archives import Archive, Retention

_SETTLING_SECONDS = 0.12
_MOST = 2000


class Expire(LooksAhead["tuple[Archive, ...]"]):
    """Answers with the archives that are kept no longer."""

    def __init__(self) -> None:
        super().__init__(id="expire")
        self._older = TypingLine(placeholder="90d, 12h; empty: whatever their age", id="older")
        self._larger = TypingLine(placeholder="20g, 500m; empty: whatever their size", id="larger")
        self._alias = TypingLine(placeholder="empty: all agents", id="alias")
        self._lines = LinesView(id="lines")
        self._found: tuple[Archive, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay out the limits, what goes, and the buttons."""
        with Vertical(id="box", classes="danger"):
            yield Static("Archives that are kept no longer", id="heading", markup=False)
            yield Field("Older than", self._older)
            yield Field("Keep at most", self._larger)
            yield Field("Agent", self._alias)
            yield self._lines
            with Horizontal(id="buttons"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("Purge", id="yes", compact=True, disabled=True)

    def on_mount(self) -> None:
        """Begin with the age."""
        self._older.focus()
        self._look()

    @on(Input.Changed)
    def _look(self) -> None:
        self.begin_to_look()
        host(self).begin(self, "preview", self._list)

    def _retention(self) -> Retention:
        from services.archives import Retention

        older, larger = self._older.value.strip(), self._larger.value.strip()
        return Retention(
            older_than=parse_duration(older) if older else None,
            total_size=parse_size(larger) if larger else None,
            alias=self._alias.value.strip(),
        )

    async def _list(self) -> None:
        await asyncio.sleep(_SETTLING_SECONDS)
        try:
            found = await host(self).pinfold.archives.expired(self._retention())
        except ValueError as error:
            self._lines.show([cell(safe(str(error)), "bad")])
            self.looked(allowed=False)
            return
        except PinfoldError as error:
            self._lines.show([cell(safe(str(error)), "muted")])
            self.looked(allowed=False)
            return
        self._found = found
        total = size(sum(archive.size for archive in found))
        head = f"{counted(len(found), 'archive')} would be purged, {total}; nothing is yet" if found else "none of them"
        self._lines.show([cell(head, "warn" if found else "good"), *map(archive_line, found[:_MOST])])
        label = f"Purge {counted(len(found), 'archive')}" if found else "Purge"
        self.query_one("#yes", Button).label = Content(label)
        self.looked(allowed=bool(found))

    @on(Button.Pressed)
    def _answer(self, message: Button.Pressed) -> None:
        self.dismiss(self._found if message.button.id == "yes" else None)
