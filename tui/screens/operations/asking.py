"""From a key to an operation: the plan is shown, then carried out in front of the operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tui.host import Host, host, key_of
from tui.text import safe

if TYPE_CHECKING:
    from textual.screen import Screen

    from services.archives import Archive, Reference
    from services.operations import Operation, Part, Plan
    from tui.screens.operations.planning import PlanDialog
    from tui.underway import Undertaking

_SECONDS = 4.0
_UNDO_SECONDS = 15.0
"""How long the way back is offered."""


class Asking:
    """Asks for operations on one screen.

    Args:
        screen: Shows the dialogs.
        done: Told of an operation that is done.
    """

    def __init__(self, screen: Screen[Any], done: Callable[[Operation], None] = lambda _: None) -> None:
        self._screen = screen
        self._done = done

    @property
    def _host(self) -> Host:
        return host(self._screen)

    def delete(self, alias: str) -> None:
        """Show what deleting an agent would do, and delete it once that is agreed to."""
        from tui.screens.operations.deleting import DeletePlan

        agent = self._host.store.configured(alias)
        own = self._host.pinfold.home.agent_dir(alias)
        elsewhere = agent is not None and not agent.workspace.is_relative_to(own)
        self._ask(DeletePlan(alias, elsewhere=elsewhere))

    def rename(self, alias: str) -> None:
        """Ask for a new alias, show what renaming would do, and rename once that is agreed to."""
        from tui.screens.operations.renaming import RenamePlan

        running = any(row.live for row in self._host.store.sessions_of(alias))
        self._ask(RenamePlan(alias, running=running))

    def restore(
        self, archive: Archive, references: Sequence[Reference], *, part: Part = "agent", path: str = ""
    ) -> None:
        """Ask what of an archive is brought back, show what that would do, and do it once that is agreed to."""
        from tui.screens.operations.restoring import RestorePlan

        self._ask(RestorePlan(archive, references, part, path))

    async def undo_delete(self) -> None:
        """Bring back what was deleted last, with all references that were dropped; asks when that is not possible."""
        deleted = self._host.underway.deleted
        if deleted is None:
            return
        operations = await self._host.underway.operations()
        plan = await operations.plan_restore(deleted.archive, references=("*",))
        if plan.allowed:
            self.carry_out(plan)
            return
        opened = await self._host.pinfold.archives.open(deleted.archive)
        self.restore(opened.archive, opened.manifest.references)

    def retry(self, operation: Operation) -> None:
        """Complete an operation that failed or was interrupted."""
        from tui.screens.operations.steps import summary

        self._show(self._host.underway.retry(operation.id, quiet=True), summary(operation))

    def carry_out(self, plan: Plan) -> None:
        """Carry out a plan in front of the operator."""
        self._show(self._host.underway.begin(plan, quiet=True), f"{plan.kind} {safe(plan.alias)}")

    def _ask(self, dialog: PlanDialog) -> None:
        self._screen.app.push_screen(dialog, lambda plan: self.carry_out(plan) if plan is not None else None)

    def _show(self, undertaking: Undertaking, clause: str) -> None:
        from tui.screens.operations.running import RunningOperation

        dialog = RunningOperation(undertaking, clause)
        self._screen.app.push_screen(dialog, lambda _: self._after(undertaking))

    def _after(self, undertaking: Undertaking) -> None:
        """Tell how it ended, also when that is later than the dialog."""
        hidden = not undertaking.ended
        self._host.begin(self._screen, "operation end", self._tell_end, undertaking, hidden)

    async def _tell_end(self, undertaking: Undertaking, hidden: bool) -> None:
        await undertaking.wait()
        operation = undertaking.operation
        if undertaking.failure is not None and hidden:
            self._host.report(undertaking.failure)
        elif operation is not None and operation.state.value == "done":
            lasting = _UNDO_SECONDS if operation.kind == "delete" else _SECONDS
            self._screen.app.notify(safe(self._said(operation)), timeout=lasting, markup=False)
            self._done(operation)

    def _said(self, operation: Operation) -> str:
        if operation.kind == "rename":
            return f"{operation.alias} is {operation.target} now"
        if operation.kind == "restore":
            return f"{operation.target} is restored from {operation.archive}"
        key = key_of(self._screen, "agent.restore")
        return f"{operation.alias} is deleted, and kept in {operation.archive}; {key} on screen 1 restores it"
