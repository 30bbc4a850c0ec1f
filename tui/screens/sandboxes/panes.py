"""One to four log panes, each with the output of one session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from services.errors import SessionNotFound
from tui.glyphs import glyphs
from tui.host import host
from tui.states import state_word
from tui.store import SessionRow
from tui.widgets.empty_state import EmptyState
from tui.widgets.log_pane import LogPane
from tui.widgets.pane import Pane
from tui.widgets.title_line import TitleLine

if TYPE_CHECKING:
    from services.output import SpoolReader

MOST_PANES = 4


class OutputPane(Pane):
    """The output of one session, with its name above.

    Args:
        now: The clock, nanoseconds since 1970.

    Attributes:
        log_pane: The lines.
        row: The session shown; None shows none.
    """

    class Focused(Message):
        """Something in the pane got the focus."""

        def __init__(self, pane: OutputPane) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(classes="output")
        self.log_pane = LogPane(now)
        self.row: SessionRow | None = None
        self._reader: SpoolReader | None = None

    def compose(self) -> ComposeResult:
        """Lay out title and lines."""
        yield TitleLine("Output")
        yield self.log_pane
        yield EmptyState(
            "No session here", ("Choose one above; its output shows here while it comes.",), (("s", "start one"),)
        )

    def on_mount(self) -> None:
        """Start without a session."""
        self.set_class(True, "-empty")

    def show(self, row: SessionRow | None) -> None:
        """Show the output of a session, or go on with it when it is the one already."""
        other = (row.id if row else "") != (self.row.id if self.row else "")
        self.row = row
        self.set_class(row is None, "-empty")
        self._say_title()
        if other:
            host(self).begin(self, "output", self._open, row)

    async def _open(self, row: SessionRow | None) -> None:
        reader: SpoolReader | None = None
        if row is not None and row.orphan is None:
            try:
                reader = await host(self).pinfold.sandboxes.output(row.id)
            except SessionNotFound:  # removed a moment ago; its row goes with the next change
                reader = None
        self._replace(reader, row)

    def _replace(self, reader: SpoolReader | None, row: SessionRow | None) -> None:
        before, self._reader = self._reader, reader
        self.log_pane.show(reader, row.agent if row else "")
        if before is not None:
            before.close()

    def on_unmount(self) -> None:
        """Close what is open."""
        if self._reader is not None:
            self._reader.close()

    def on_descendant_focus(self) -> None:
        """Tell which pane is in use."""
        self.post_message(self.Focused(self))

    @on(LogPane.StatusChanged)
    def _say_title(self) -> None:
        row = self.row
        title = self.query_one(TitleLine)
        if row is None:
            title.show("Output", status="", warning="")
            return
        warning = "" if row.confined else f"{glyphs().warning} unconfined"
        word = "" if state_word(row) == "running" else f", {state_word(row)}"
        title.show(f"{row.agent} {row.id}{word}", status=self.log_pane.status, warning=warning)


class PaneGrid(Container):
    """Holds the panes; one of them is active: it has the focus, or had it last.

    Args:
        now: The clock, nanoseconds since 1970.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        super().__init__(id="panes")
        self._now = now
        self._panes: list[OutputPane] = [OutputPane(now)]
        self._active = 0

    def compose(self) -> ComposeResult:
        """Begin with one pane."""
        yield from self._panes

    def on_mount(self) -> None:
        """Lay out."""
        self._lay_out()

    @property
    def panes(self) -> tuple[OutputPane, ...]:
        """From left to right."""
        return tuple(self._panes)

    @property
    def active(self) -> OutputPane:
        """The pane in use."""
        return self._panes[self._active]

    @property
    def first(self) -> OutputPane:
        """The pane that follows the cursor of the table."""
        return self._panes[0]

    def split(self, row: SessionRow | None) -> OutputPane | None:
        """Add a pane for a session that keeps it; None when there are four already."""
        if len(self._panes) == MOST_PANES:
            return None
        pane = OutputPane(self._now)
        self._panes.append(pane)
        self.mount(pane)
        self._active = len(self._panes) - 1
        self._lay_out()
        pane.call_after_refresh(pane.show, row)
        return pane

    def close_active(self) -> bool:
        """Close the pane in use; the last one stays."""
        if len(self._panes) == 1:
            return False
        gone = self._panes.pop(self._active)
        self._active = min(self._active, len(self._panes) - 1)
        gone.remove()
        self._lay_out()
        return True

    def showing(self, session: str) -> OutputPane | None:
        """The pane that shows a session."""
        return next((pane for pane in self._panes if pane.row is not None and pane.row.id == session), None)

    @on(OutputPane.Focused)
    def _activate(self, message: OutputPane.Focused) -> None:
        if message.pane in self._panes:
            self._active = self._panes.index(message.pane)
            self._lay_out()

    def _lay_out(self) -> None:
        for count in range(1, MOST_PANES + 1):
            self.set_class(count == len(self._panes), f"-panes-{count}")
        for index, pane in enumerate(self._panes):
            pane.set_class(index == self._active, "-active")
