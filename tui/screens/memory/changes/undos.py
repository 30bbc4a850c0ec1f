"""The changes that can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from services.errors import ChangedMeanwhile
from tui.host import host, key_of
from tui.screens.dialog import Confirm
from tui.screens.memory.changes.doing import Outcome, Undo

if TYPE_CHECKING:
    from tui.screens.frame import FrameScreen


class Undos:
    """The changes that can be taken back, the last first, until Pinfold ends.

    They are never on disk: what was deleted, such as a secret, is to be gone from there.

    Args:
        screen: Asks the questions.
        done: Told what was done.
    """

    _MOST = 50

    def __init__(self, screen: FrameScreen, done: Callable[[Outcome], None]) -> None:
        self._screen = screen
        self._done = done
        self._kept: list[Undo] = []

    @property
    def last(self) -> Undo | None:
        """What would be taken back."""
        return self._kept[-1] if self._kept else None

    def keep(self, undo: Undo) -> str:
        """Keep a change, and say which key takes it back."""
        self._kept = [*self._kept[-self._MOST :], undo]
        return f"; {key_of(self._screen, 'memory.undo')} takes it back"

    async def take_back(self, *, anyway: bool = False) -> None:
        """Take the last change back; asks when somebody changed it since."""
        undo = self.last
        if undo is None:
            return
        try:
            await undo.back(host(self._screen).pinfold, anyway)
        except ChangedMeanwhile as error:
            self._ask(undo, error)
            return
        if undo in self._kept:
            self._kept.remove(undo)
        self._done(Outcome(f"taken back: {undo.label}"))

    def _ask(self, undo: Undo, error: ChangedMeanwhile) -> None:
        question = Confirm(
            f"Take back: {undo.label[:80]}?",
            [str(error)],
            "Somebody changed it since; their change would be lost.",
            "Take it back",
        )

        def answer(yes: bool | None) -> None:
            if yes:
                app = host(self._screen)
                app.begin(self._screen, "undo", self.take_back, anyway=True)

        self._screen.app.push_screen(question, answer)
