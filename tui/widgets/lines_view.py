"""Lines of text in tones, to be scrolled through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.widgets.table import Cell


class LinesView(ScrollView, can_focus=True):
    """Shows lines as they are given; one wider than the view is reached by scrolling sideways.

    Args:
        id: Textual's id.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "lines--text",
        *(f"lines--{tone}" for tone in ("muted", "strong", "accent", "good", "warn", "bad")),
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("l", "scroll_right", show=False),
        Binding("h", "scroll_left", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]

    def __init__(self, lines: Sequence[Cell] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: tuple[Cell, ...] = ()
        self.show(lines)

    def show(self, lines: Sequence[Cell]) -> None:
        """Replace the lines; foreign text in them has passed `tui.text.safe`."""
        if tuple(lines) != self._lines:
            self._lines = tuple(lines)
            widest = max((sum(cell_len(span.text) for span in line) for line in self._lines), default=0)
            self.virtual_size = Size(widest, len(self._lines))
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self.size.width
        number = y + self.scroll_offset.y
        base = self.get_component_rich_style("lines--text")
        if number >= len(self._lines):
            return Strip.blank(width, base)
        strip = Strip(
            Segment(text, base + self.get_component_rich_style(f"lines--{tone}", partial=True) if tone else base)
            for text, tone in self._lines[number]
        )
        left = self.scroll_offset.x
        return strip.crop_extend(left, left + width, base)
