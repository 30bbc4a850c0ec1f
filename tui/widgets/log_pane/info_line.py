"""The line below the output: what is searched, filtered, selected or saved, and what went wrong."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from textual.content import Content
from textual.widget import Widget

from tui.glyphs import glyphs
from tui.widgets.component import component_style

Weight = Literal["plain", "strong", "problem"]


class Remark(NamedTuple):
    """A few words of clean text."""

    text: str
    weight: Weight = "plain"


class InfoLine(Widget):
    """Remarks beside each other; takes no room while there are none."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"info-line--plain", "info-line--strong", "info-line--problem"}

    def __init__(self) -> None:
        super().__init__()
        self.remarks: tuple[Remark, ...] = ()

    @property
    def text(self) -> str:
        """All remarks as one text."""
        return "  ".join(remark.text for remark in self.remarks)

    def show(self, *remarks: Remark) -> None:
        """Replace the remarks."""
        if remarks != self.remarks:
            self.remarks = remarks
            self.set_class(bool(remarks), "-shown")
            self.refresh()

    def render(self) -> Content:
        """Draw the remarks; those at the end go first when there is little room."""
        line = Content("")
        for text, weight in self.remarks:
            piece = Content.assemble(("  " if line else " "), (text, component_style(self, f"info-line--{weight}")))
            line = Content.assemble(line, piece)
        return line.truncate(max(self.size.width, 1), ellipsis=True) if not glyphs().ascii else line
