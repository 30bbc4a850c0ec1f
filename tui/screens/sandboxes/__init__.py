"""Screen 3: sessions in a table over one to four log panes."""

from tui.screens.sandboxes.screen import SandboxesScreen

__all__ = ["SandboxesScreen"]
