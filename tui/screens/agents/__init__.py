"""Screen 1: agents, and all about the chosen one."""

from tui.screens.agents.screen import AgentsScreen

__all__ = ["AgentsScreen"]
