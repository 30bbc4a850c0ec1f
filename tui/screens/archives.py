"""Screen 4: archives and operations; its place is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tui.actions import Scope
from tui.keymap import bindings
from tui.screens.frame import FrameScreen
from tui.widgets.empty_state import EmptyState


class ArchivesScreen(FrameScreen):
    """Says what will be here."""

    MODE = "archives"
    SCOPE = Scope.ARCHIVES
    HELP = "What renaming and deleting kept. Not built yet."
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.ARCHIVES)

    def body(self) -> Iterable[Widget]:
        """One message."""
        yield EmptyState(
            "Archives are not built yet",
            (
                "Here you will find every agent that was renamed or deleted,",
                "verify what was kept, compare it, and bring it back.",
                "Nothing Pinfold does today deletes an agent.",
            ),
            (("1", "agents"), ("3", "sandboxes")),
        )
