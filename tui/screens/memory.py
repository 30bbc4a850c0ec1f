"""Screen 2: what agents remember; its place is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from tui.actions import Scope
from tui.keymap import bindings
from tui.screens.frame import FrameScreen
from tui.widgets.empty_state import EmptyState


class MemoryScreen(FrameScreen):
    """Says what will be here."""

    MODE = "memory"
    SCOPE = Scope.MEMORY
    HELP = "What agents remember. Not built yet."
    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.MEMORY)

    def body(self) -> Iterable[Widget]:
        """One message."""
        yield EmptyState(
            "Memory is not built yet",
            (
                "Here you will read, search and correct what agents remember:",
                "scopes and their keys, core blocks, archive entries, and what they learned.",
                "Until then an agent's memory files lie in its workspace.",
            ),
            (("1", "agents"), ("3", "sandboxes")),
        )
