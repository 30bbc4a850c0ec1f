"""Before an agent is deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.widget import Widget

from tui.screens.operations.planning import PlanDialog
from tui.text import safe
from tui.widgets.choice import Choice
from tui.widgets.field import Field

if TYPE_CHECKING:
    from services.operations import Operations, Plan


class DeletePlan(PlanDialog):
    """Shows all a delete would do.

    Args:
        alias: The agent.
        elsewhere: Its workspace lies outside its directory, so that it may stay.
    """

    def __init__(self, alias: str, *, elsewhere: bool) -> None:
        super().__init__(f"Delete {safe(alias)}, and keep all of it in an archive?", "Delete")
        self._alias = alias
        self._elsewhere = elsewhere
        self._workspace = Choice((("move", "moves into the archive"), ("keep", "stays, a copy is kept")), "move")

    @property
    def destructive(self) -> bool:
        """It is."""
        return True

    def choices(self) -> Iterable[Widget]:
        """What becomes of a workspace that lies elsewhere."""
        if self._elsewhere:
            yield Field("Workspace", self._workspace)

    async def make_plan(self, operations: Operations) -> Plan:
        """Plan the delete."""
        return await operations.plan_delete(self._alias, keep_workspace=self._workspace.value == "keep")
