"""The four screens, each imported when it is shown first."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen


def agents() -> Screen[Any]:
    """Make the screen of agents."""
    from tui.screens.agents import AgentsScreen

    return AgentsScreen()


def memory() -> Screen[Any]:
    """Make the screen of memory."""
    from tui.screens.memory import MemoryScreen

    return MemoryScreen()


def sandboxes() -> Screen[Any]:
    """Make the screen of sandboxes."""
    from tui.screens.sandboxes import SandboxesScreen

    return SandboxesScreen()


def archives() -> Screen[Any]:
    """Make the screen of archives."""
    from tui.screens.archives import ArchivesScreen

    return ArchivesScreen()
