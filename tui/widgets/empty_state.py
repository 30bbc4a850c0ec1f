"""What stands where rows would be: what will be here, and which key makes the first one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from tui.figures import duration
from tui.widgets.component import component_style

_QUIET_SECONDS = 0.4
"""A wait shorter than this is not worth a word."""


class EmptyState(Widget):
    """A heading and a few lines in the middle of a pane."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"empty-state--heading", "empty-state--key", "empty-state--text"}

    def __init__(self, heading: str = "", lines: Sequence[str] = (), keys: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__()
        self._heading = heading
        self._lines = tuple(lines)
        self._keys = tuple(keys)
        self._since: float | None = None
        self._ticking: Timer | None = None

    def show(self, heading: str, lines: Sequence[str] = (), keys: Sequence[tuple[str, str]] = ()) -> None:
        """Say what will be here.

        Args:
            heading: A few words of clean text.
            lines: Sentences of clean text.
            keys: Keys and what each does.
        """
        self._since = None
        self._stop_ticking()
        said = (heading, tuple(lines), tuple(keys))
        if said != (self._heading, self._lines, self._keys):
            self._heading, self._lines, self._keys = said
            self.refresh()

    def wait_for(self, what: str, since: float) -> None:
        """Say what is awaited, and for how long already.

        Args:
            what: A clause such as `the engines`.
            since: Seconds of the monotonic clock.
        """
        self._heading, self._lines, self._keys, self._since = what, (), (), since
        if self._ticking is None and self.is_mounted:
            self._ticking = self.set_interval(0.5, self.refresh)
        self.refresh()

    def on_unmount(self) -> None:
        """Stop counting."""
        self._stop_ticking()

    def _stop_ticking(self) -> None:
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def render(self) -> Content:
        """Draw the lines."""
        heading = component_style(self, "empty-state--heading")
        key_style = component_style(self, "empty-state--key")
        text = component_style(self, "empty-state--text")
        if self._since is not None:
            waited = time.monotonic() - self._since
            if waited < _QUIET_SECONDS:
                return Content("")
            return Content.assemble((f"waiting for {self._heading} … {duration(waited)}", text))
        parts: list[Content] = [Content.assemble((self._heading, heading))]
        parts += [Content.assemble((line, text)) for line in ("", *self._lines)]
        if self._keys:
            parts.append(Content(""))
            parts += [Content.assemble((key, key_style), (f"  {label}", text)) for key, label in self._keys]
        return Content("\n").join(parts)
