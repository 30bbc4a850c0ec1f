"""The bar at the bottom of every screen: the keys that work here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from tui.widgets.component import component_style


@dataclass(frozen=True)
class Key:
    """A key that works now.

    Attributes:
        action: The id of its action.
        keeps: Stays in the bar when there is little room.
    """

    action: str
    key: str
    label: str
    keeps: bool = False


class KeyBar(Widget):
    """One line of keys; a click does what the key does."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-bar--key", "key-bar--label"}

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self) -> None:
        super().__init__()
        self._keys: tuple[Key, ...] = ()

    def show(self, keys: Sequence[Key]) -> None:
        """Replace the keys."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self.refresh()

    @property
    def keys(self) -> tuple[Key, ...]:
        """The keys, whether there is room for them or not."""
        return self._keys

    def render(self) -> Content:
        """Draw what fits: the first keys, and always those that keep their place."""
        room = self.size.width - sum(self._drawn(key).cell_length for key in self._keys if key.keeps)
        parts: list[Content] = []
        for key in self._keys:
            drawn = self._drawn(key)
            if not key.keeps:
                if drawn.cell_length > room:
                    room = 0
                    continue
                room -= drawn.cell_length
            parts.append(drawn)
        return Content.assemble(*parts)

    def _drawn(self, key: Key) -> Content:
        click = Style.from_meta({"press": key.action})
        key_style = component_style(self, "key-bar--key") + click
        label_style = component_style(self, "key-bar--label") + click
        return Content.assemble(" ", (key.key, key_style), (f" {key.label} ", label_style))

    def on_click(self, event: events.Click) -> None:
        """Tell the screen which key was clicked."""
        if action := event.style.meta.get("press"):
            self.post_message(self.Pressed(action))
