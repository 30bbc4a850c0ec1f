"""How editing begins and ends: opened, compared, saved, held against others' changes, or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from services.errors import ChangedMeanwhile
from services.memory import MISSING
from tui.diff import diff_lines
from tui.host import Host, host
from tui.screens.dialog import Confirm
from tui.screens.memory.changes.doing import Outcome
from tui.screens.memory.editing.drafts import Draft, editable, open_draft, over, read_now, same, shown, write
from tui.screens.memory.editing.saving import Choice, ResolveConflict, SaveChange
from tui.screens.memory.editing.writing import Problem
from tui.screens.memory.hiding import hidden
from tui.screens.memory.items import Item
from tui.screens.memory.places import ScopeKeys
from tui.widgets.table import cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui.screens.frame import FrameScreen
    from tui.screens.memory.viewer import Viewer
    from tui.widgets.table import Cell


class Editing:
    """Carries out what the operator decides about the row being edited.

    Args:
        screen: Asks the questions.
        viewer: Where it is typed.
        reveal: Whether secrets are shown now.
        done: Told what was done.
    """

    def __init__(
        self, screen: FrameScreen, viewer: Viewer, reveal: Callable[[], bool], done: Callable[[Outcome], None]
    ) -> None:
        self._screen = screen
        self._viewer = viewer
        self._reveal = reveal
        self._done = done

    @property
    def _host(self) -> Host:
        return host(self._screen)

    @property
    def is_open(self) -> bool:
        """Whether leaving now would lose something."""
        return self._viewer.draft is not None and self._viewer.changed

    def begin(self, item: Item) -> None:
        """Edit a row, after asking where that shows a secret."""
        if editable(item.place, item):
            self._host.begin(self._screen, "edit", self._open, item)

    async def _open(self, item: Item) -> None:
        draft = await open_draft(self._host.pinfold, item)
        text = shown(draft.seen)
        masked, names = await self._host.pinfold.calls.run(lambda: hidden(text, reveal=self._reveal()))
        if masked == text:
            await self._viewer.begin(draft)
            return
        question = Confirm(
            f"Edit {item.name}?",
            [f"the scan found: {', '.join(names)}"],
            "What is hidden now is shown while you edit.",
            "Edit",
        )

        def answer(yes: bool | None) -> None:
            if yes:
                self._host.begin(self._screen, "edit", self._viewer.begin, draft)

        self._screen.app.push_screen(question, answer)

    async def look(self) -> None:
        """Find out whether somebody changed what is being edited."""
        draft = self._viewer.draft
        if draft is not None:
            found = await read_now(self._host.pinfold, draft.place, draft.id)
            self._viewer.note_divergence(not same(found, draft.seen))

    # ── saving ────────────────────────────────────────────────────────────────────────────────────────────────

    async def save(self) -> None:
        """Show what would be written, and write it once that is confirmed."""
        draft, value = self._viewer.draft, self._viewer.value
        if draft is None or isinstance(value, Problem):
            return
        if self._viewer.diverged:
            await self._resolve(draft, value)
            return
        if not self._viewer.changed:
            self._viewer.end()
            self._host.told("nothing was changed")
            return
        lines = await self._compared(draft.seen, value)
        said = "Its time to live stays as it is." if isinstance(draft.place, ScopeKeys) else ""

        def answer(choice: Choice | None) -> None:
            if choice == "mine":
                self._host.begin(self._screen, "edit", self._write, draft, value)

        self._screen.app.push_screen(SaveChange(draft.name, lines, said), answer)

    async def _write(self, draft: Draft, value: Any) -> None:  # noqa: ANN401
        try:
            undo = await write(self._host.pinfold, draft, value)
        except ChangedMeanwhile:
            await self._resolve(draft, value)
            return
        self._viewer.end()
        self._done(Outcome(f"{draft.name} is saved", undo=undo, item=draft.id))

    async def _resolve(self, draft: Draft, value: Any) -> None:  # noqa: ANN401
        theirs = await read_now(self._host.pinfold, draft.place, draft.id)
        if same(theirs, draft.seen):
            self._viewer.note_divergence(False)
            await self.save()
            return
        lines = await self._compared(theirs, value)

        def answer(choice: Choice | None) -> None:
            if choice is not None:
                self._host.begin(self._screen, "edit", self._settle, over(draft, theirs), value, choice)

        self._screen.app.push_screen(ResolveConflict(draft.name, lines, gone=theirs is MISSING), answer)

    async def _settle(self, draft: Draft, value: Any, choice: Choice) -> None:  # noqa: ANN401
        self._viewer.go_on_from(draft)
        if choice == "mine":
            await self._write(draft, value)
        else:
            self._viewer.end()
            self._done(Outcome("what somebody else stored stays", item=draft.id))

    async def _compared(self, before: Any, after: Any) -> Sequence[Cell]:  # noqa: ANN401
        lines = await self._host.pinfold.calls.run(lambda: diff_lines(self._masked(before), self._masked(after)))
        return lines or [cell("They differ in what is hidden.", "warn")]

    def _masked(self, value: Any) -> str:  # noqa: ANN401
        return hidden(shown(value), reveal=self._reveal())[0]

    # ── leaving ───────────────────────────────────────────────────────────────────────────────────────────────

    def leave(self) -> None:
        """End editing; asks when something typed would be lost."""
        if not self.is_open:
            self._viewer.end()
            return
        draft = self._viewer.draft
        assert draft is not None
        question = Confirm(f"Leave {draft.name} as it was?", [], "What you typed is lost.", "Drop it")

        def answer(yes: bool | None) -> None:
            if yes:
                self._viewer.end()

        self._screen.app.push_screen(question, answer)

    def unsaved(self) -> list[str]:
        """What would be lost if Pinfold ended now."""
        draft = self._viewer.draft
        return [f"{draft.name}: what was typed"] if draft is not None and self.is_open else []
