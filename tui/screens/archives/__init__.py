"""Screen 4: what was renamed, deleted and restored, what of it is kept, whether it is intact, how to get it back."""

from tui.screens.archives.screen import ArchivesScreen

__all__ = ["ArchivesScreen"]
