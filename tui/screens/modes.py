"""The four screens, each imported when it is shown first, and how one leads to another."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.screen import Screen

from tui.host import host


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


async def show_agent(app: App[None], alias: str) -> None:
    """Show the screen of agents with the cursor on one."""
    from tui.screens.agents import AgentsScreen

    await app.switch_mode("agents")
    if isinstance(app.screen, AgentsScreen):
        app.screen.show_agent(alias)


async def show_sandboxes(app: App[None], *, session: str = "", alias: str = "") -> None:
    """Show the screen of sandboxes with the cursor on a session, or ask what to start of an agent."""
    from tui.screens.sandboxes import SandboxesScreen

    await app.switch_mode("sandboxes")
    if isinstance(app.screen, SandboxesScreen):
        if session:
            app.screen.show_session(session)
        if alias:
            app.screen.ask_start(alias)


async def show_archive(app: App[None], archive: str) -> None:
    """Show the screen of archives with the cursor on one, or on an operation."""
    from tui.screens.archives import ArchivesScreen

    await app.switch_mode("archives")
    if isinstance(app.screen, ArchivesScreen):
        app.screen.show_archive(archive)


def show_approvals(app: App[None], number: int = 0) -> None:
    """Show the calls that wait for an answer, with the cursor on one; 0 is one of the session in use, else the oldest.

    Args:
        app: The app.
        number: The approval's.
    """
    from tui.screens.approvals import ApprovalsDialog
    from tui.screens.frame import FrameScreen

    screen = app.screen
    if isinstance(screen, ApprovalsDialog):
        return
    session = screen.subject()[1] if isinstance(screen, FrameScreen) else ""
    asked = [row.number for row in host(app).store.approvals if session and row.session == session]
    app.clear_notifications()  # on a small terminal they would cover it
    app.push_screen(ApprovalsDialog(number or next(iter(asked), 0)))
