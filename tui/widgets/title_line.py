"""The line above a pane: what it shows, and on the right how it stands."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.widget import Widget

from tui.glyphs import glyphs
from tui.widgets.component import component_style


class TitleLine(Widget):
    """A rule with a title in it; brighter while the pane below has the focus."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "title-line--rule",
        "title-line--title",
        "title-line--status",
        "title-line--warn",
    }

    def __init__(self, title: str = "", status: str = "") -> None:
        super().__init__()
        self._title = title
        self._warning = ""
        self._status = status

    def show(self, title: str | None = None, status: str | None = None, warning: str | None = None) -> None:
        """Change what is given.

        Args:
            title: Clean text.
            status: Clean text, on the right.
            warning: Clean text behind the title that must not be overlooked.
        """
        before = (self._title, self._status, self._warning)
        self._title = before[0] if title is None else title
        self._status = before[1] if status is None else status
        self._warning = before[2] if warning is None else warning
        if (self._title, self._status, self._warning) != before:
            self.refresh()

    @property
    def text(self) -> str:
        """Title, warning and status as one text."""
        return "  ".join(part for part in (self._title, self._warning, self._status) if part)

    def notify_style_update(self) -> None:
        """Draw again when the pane gets or loses the focus."""
        super().notify_style_update()
        self.refresh()

    def render(self) -> Content:
        """Draw rule, title and status; the status goes first when there is little room."""
        line = glyphs().line
        rule = component_style(self, "title-line--rule")
        title_style = component_style(self, "title-line--title")
        status_style = component_style(self, "title-line--status")
        warn_style = component_style(self, "title-line--warn")
        width = self.size.width
        left = Content.assemble((line, rule), (f" {self._title} ", title_style))
        if self._warning:
            left = Content.assemble(left, (f"{self._warning} ", warn_style))
        right = Content.assemble((f" {self._status} ", status_style), (line, rule)) if self._status else Content("")
        if left.cell_length + right.cell_length > width:
            right = Content("")
        left = left.truncate(width, ellipsis=True)
        return Content.assemble(left, (line * (width - left.cell_length - right.cell_length), rule), right)
