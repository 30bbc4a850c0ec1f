"""A choice of a few, all of them visible on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget

from tui.glyphs import glyphs
from tui.widgets.component import component_style


class Choice(Widget, can_focus=True):
    """Chosen with the arrows, the space bar or a click.

    Args:
        options: Values and their labels.
        chosen: The value chosen at first.
        id: Textual's id.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"choice--option", "choice--chosen"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", show=False),
        Binding("right,l,space", "step(1)", show=False),
    ]

    value: reactive[str] = reactive("", init=False)

    class Changed(Message):
        """Another option was chosen."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, options: Sequence[tuple[str, str]], chosen: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._options = tuple(options)
        self.set_reactive(Choice.value, chosen)

    def watch_value(self) -> None:
        """Tell of the change."""
        self.post_message(self.Changed(self))

    def action_step(self, by: int) -> None:
        """Choose the option `by` places further."""
        values = [value for value, _ in self._options]
        self.value = values[(values.index(self.value) + by) % len(values)]

    def on_click(self, event: events.Click) -> None:
        """Choose the option clicked."""
        if (value := event.style.meta.get("choose")) is not None:
            self.value = value

    def render(self) -> Content:
        """Draw the options; when they do not fit, those around the chosen one."""
        signs = glyphs()
        parts: list[Content] = []
        place = 0
        for value, label in self._options:
            chosen = value == self.value
            style = component_style(self, "choice--chosen" if chosen else "choice--option")
            sign = signs.chosen if chosen else signs.unchosen
            place = len(parts) if chosen else place
            parts.append(Content.assemble((f"{sign} {label}", style + Style.from_meta({"choose": value}))))
        gap = Content("   ")
        while len(parts) > 1 and gap.join(parts).cell_length > self.size.width and place > 0:
            parts.pop(0)
            place -= 1
        return gap.join(parts)
