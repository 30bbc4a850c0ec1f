"""A line of tabs, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from tui.widgets.component import component_style


class TabStrip(Widget):
    """Tabs by key and label; a click chooses one.

    Args:
        tabs: Keys and labels from left to right.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tab-strip--tab", "tab-strip--chosen"}

    chosen: reactive[str] = reactive("")

    class Chosen(Message):
        """Another tab was chosen."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, tabs: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._tabs = tuple(tabs)
        self.set_reactive(TabStrip.chosen, self._tabs[0][0])

    def relabel(self, key: str, label: str) -> None:
        """Write a tab's label anew."""
        tabs = tuple((known, label if known == key else old) for known, old in self._tabs)
        if tabs != self._tabs:
            self._tabs = tabs
            self.refresh()

    def watch_chosen(self, key: str) -> None:
        """Tell which tab is chosen now."""
        self.post_message(self.Chosen(key))

    def step(self, by: int) -> None:
        """Choose the tab `by` places further, around the ends."""
        keys = [key for key, _ in self._tabs]
        self.chosen = keys[(keys.index(self.chosen) + by) % len(keys)]

    def on_click(self, event: events.Click) -> None:
        """Choose the tab clicked."""
        if key := event.style.meta.get("tab"):
            self.chosen = key

    def render(self) -> Content:
        """Draw the tabs."""
        parts: list[tuple[str, Style]] = []
        for key, label in self._tabs:
            component = "tab-strip--chosen" if key == self.chosen else "tab-strip--tab"
            style = component_style(self, component)
            parts.append((f" {label} ", style + Style.from_meta({"tab": key})))
        return Content.assemble(*parts)
