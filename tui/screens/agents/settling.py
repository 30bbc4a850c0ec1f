"""How a draft ends: saved, compared with the disk, taken back, or dropped, each after the decision it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.errors import FileConflict
from tui.figures import counted
from tui.host import Host, host, key_of
from tui.screens.agents.comparing import CompareVersions
from tui.screens.agents.drafts import Drafts
from tui.screens.agents.editor import PermissionEditor
from tui.screens.agents.saving import Proposal, SaveDraft, file_diff
from tui.screens.dialog import Confirm
from tui.text import safe

if TYPE_CHECKING:
    from textual.screen import Screen


class Settling:
    """Carries out what the operator decides about drafts.

    Args:
        screen: Asks the questions.
        drafts: All drafts.
    """

    def __init__(self, screen: Screen[None], drafts: Drafts) -> None:
        self._screen = screen
        self._drafts = drafts

    @property
    def _host(self) -> Host:
        return host(self._screen)

    async def save(self, alias: str, editor: PermissionEditor | None) -> None:
        """Take what is half typed, show what would be written, and write it once that is confirmed."""
        if editor is not None and not await editor.take_typing():
            return
        draft = self._drafts.of(alias).draft
        if draft is None:
            return
        problem = next((problem for problem in draft.agent.problems if problem.severity == "error"), None)
        if problem is not None:
            if editor is not None:
                editor.go_to_trouble()
            raise problem.as_error()
        if draft.changed:
            proposal = await self._proposal(alias)
            self._screen.app.push_screen(SaveDraft(proposal), lambda yes: self._write(alias, editor) if yes else None)

    async def _proposal(self, alias: str) -> Proposal:
        standing = self._drafts.of(alias)
        assert standing.draft is not None
        return Proposal(
            alias=safe(alias),
            count=standing.count,
            differences=standing.sheet.differences if standing.sheet is not None else (),
            diff=await self._host.pinfold.calls.run(file_diff, standing.draft),
            sessions=tuple(row for row in self._host.store.sessions_of(alias) if row.live),
        )

    def _write(self, alias: str, editor: PermissionEditor | None) -> None:
        self._host.begin(self._screen, "edit", self._save, alias, editor)

    async def _save(self, alias: str, editor: PermissionEditor | None) -> None:
        try:
            await self._drafts.save(alias)
        except FileConflict as error:
            await self._go_on(alias, editor, error)
            return
        self._host.told(f"{alias} is saved; {key_of(self._screen, 'agent.undo')} takes it back")

    async def _go_on(self, alias: str, editor: PermissionEditor | None, error: FileConflict) -> None:
        """Ask again what somebody's change meanwhile makes another question."""
        standing = self._drafts.of(alias)
        if standing.diverged or standing.refusal is not None:
            self._host.report(error)
        if standing.diverged:
            await self.compare(alias)
        elif standing.refusal is None:
            await self.save(alias, editor)  # other keys changed: what is written means something else now

    async def compare(self, alias: str) -> None:
        """Ask for each key which version is kept, and go on with those."""
        found = await self._drafts.disagreements(alias)

        def go_on(keep: frozenset[tuple[str, ...]] | None) -> None:
            if keep is not None:
                self._host.begin(self._screen, "edit", self._drafts.rebase, alias, keep)

        if found:
            self._screen.app.push_screen(CompareVersions(safe(alias), found), go_on)
        else:
            await self._drafts.look(alias)

    async def undo(self, alias: str) -> None:
        """Write again what was there before the last save."""
        await self._drafts.undo(alias)
        self._host.told(f"{alias} is as it was before it was saved")

    def discard(self, alias: str, editor: PermissionEditor | None) -> None:
        """Ask, then forget what is not saved."""
        standing = self._drafts.of(alias)

        def forget(yes: bool | None) -> None:
            if yes:
                if editor is not None:
                    editor.form.stop_asking()
                self._host.begin(self._screen, "edit", self._drafts.discard, alias)

        lines = [difference.text for difference in standing.sheet.differences] if standing.sheet is not None else []
        heading = f"Drop {counted(standing.count, 'change')} of {alias}?" if standing.count else "Drop what is typed?"
        self._screen.app.push_screen(Confirm(heading, lines, "What is not saved is lost.", "Drop"), forget)
