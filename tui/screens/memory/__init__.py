"""Screen 2: a tree of what is remembered, a table of its rows, and a viewer that is also the editor."""

from tui.screens.memory.screen import MemoryScreen

__all__ = ["MemoryScreen"]
