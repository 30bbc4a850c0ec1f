"""What stands in place of the list while it has no rows."""

from __future__ import annotations

from collections.abc import Callable

from tui.screens.archives.entries import Entry, Narrowed
from tui.widgets.list_pane import ListPane


def say_nothing(pane: ListPane[Entry], only: Narrowed, entries: int, key: Callable[[str], str]) -> None:
    """Say why a list that was read has no rows.

    Args:
        pane: The list.
        only: What is let through.
        entries: How many there are in all.
        key: Names keys of actions.
    """
    if only.text:
        pane.say_empty(f"Nothing is {only.text}", (), ((key("archive.narrow"), "narrow down otherwise"),))
    elif entries:
        told = "Those that were purged are shown when they are asked for, by their state."
        pane.say_empty("Nothing is kept any more", (told,), ((key("archive.narrow"), "narrow down"),))
    else:
        lines = ("Here you will find every one, verify what was kept,", "compare it, and bring it back.")
        where = ((key("app.agents"), "agents, where they are renamed and deleted"),)
        pane.say_empty("No agent was renamed or deleted yet", lines, where)
