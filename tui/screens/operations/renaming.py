"""Before an agent is renamed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.widget import Widget

from services.errors import PinfoldError
from tui.screens.operations.planning import PlanDialog
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field
from tui.widgets.typing_line import TypingLine

if TYPE_CHECKING:
    from services.operations import Operations, Plan


class RenamePlan(PlanDialog):
    """Asks for the new alias, and shows all a rename would do while it is typed.

    Args:
        alias: The agent.
        running: Sessions of it run now.
    """

    def __init__(self, alias: str, *, running: bool) -> None:
        super().__init__(f"Rename {safe(alias)}", "Rename")
        self._alias = alias
        self._running = running
        self._line = TypingLine(placeholder="lower case letters, digits, _", id="target")
        self._sessions = Choice((("refuse", "must have ended"), ("stop", "are stopped first")), "refuse")

    def choices(self) -> Iterable[Widget]:
        """The new alias, and what becomes of running sessions."""
        yield Field("New alias", self._line)
        if self._running:
            yield Field("Sessions", self._sessions)

    def begin_at(self) -> Widget:
        """The new alias is missing."""
        return self._line

    async def make_plan(self, operations: Operations) -> Plan:
        """Plan the rename."""
        target = self._line.value.strip()
        if not target:
            raise PinfoldError("type the new alias")
        return await operations.plan_rename(self._alias, target, stop_sessions=self._sessions.value == "stop")
