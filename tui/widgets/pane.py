"""A part of a screen with a title line above, lit while something in it has the focus."""

from __future__ import annotations

from textual.containers import Vertical

from tui.widgets.title_line import TitleLine


class Pane(Vertical):
    """Holds a `TitleLine` and what it is the title of."""

    def on_descendant_focus(self) -> None:
        """Light the title."""
        self.query_one(TitleLine).add_class("-lit")

    def on_descendant_blur(self) -> None:
        """Put the light out, unless the focus only moved inside."""
        if not self.has_focus_within:
            self.query_one(TitleLine).remove_class("-lit")
