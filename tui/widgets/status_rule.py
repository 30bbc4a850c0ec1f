"""A rule with what stands open written on it, and the keys that settle it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from tui.glyphs import glyphs
from tui.looks import Tone
from tui.widgets.component import component_style


@dataclass(frozen=True)
class Part:
    """A piece of the rule.

    Attributes:
        text: Clean text.
        action: What a click does, the id of an action; "" does nothing.
        gives_way: Shortened, and left out first, when there is little room.
    """

    text: str
    tone: Tone = ""
    action: str = ""
    gives_way: bool = False


class StatusRule(Widget):
    """One line of parts with a rule between them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status-rule--line",
        *(f"status-rule--{tone}" for tone in ("text", "muted", "strong", "accent", "good", "warn", "bad")),
    }

    class Pressed(Message):
        """A part with an action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts: tuple[Part, ...] = ()

    def show(self, parts: Sequence[Part]) -> None:
        """Replace the parts."""
        if tuple(parts) != self._parts:
            self._parts = tuple(parts)
            self.refresh()

    def render(self) -> Content:
        """Draw parts and rule."""
        width = self.size.width
        line = component_style(self, "status-rule--line")
        dashes = glyphs().line * 2
        fixed = sum(len(dashes) + 2 + Content(part.text).cell_length for part in self._parts if not part.gives_way)
        room = width - fixed - len(dashes)
        drawn: list[Content | tuple[str, Style]] = []
        for part in self._parts:
            style = component_style(self, f"status-rule--{part.tone or 'text'}")
            if part.action:
                style += Style.from_meta({"press": part.action})
            content = Content.assemble((f" {part.text} ", style))
            if part.gives_way:
                if room < 8 + len(dashes):
                    continue
                content = content.truncate(room - len(dashes), ellipsis=True)
                room -= content.cell_length + len(dashes)
            drawn += [(dashes, line), content]
        so_far = Content.assemble(*drawn).truncate(width)
        return Content.assemble(so_far, (glyphs().line * (width - so_far.cell_length), line))

    def on_click(self, event: events.Click) -> None:
        """Tell which part was clicked."""
        if action := event.style.meta.get("press"):
            self.post_message(self.Pressed(action))
