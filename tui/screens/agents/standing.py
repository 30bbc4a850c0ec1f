"""How editing one agent stands."""

from __future__ import annotations

from dataclasses import dataclass

from services.agents import Draft
from services.errors import ConfigError
from tui.figures import counted
from tui.screens.agents.sheet import Sheet


@dataclass(frozen=True)
class Typing:
    """A text that was typed and neither given nor dropped yet.

    Attributes:
        key: Of its row.
        slot: The place in the row.
        entry: What stands there, as the row shows it; None for an entry to be added.
    """

    key: str
    slot: int
    typed: str
    entry: str | None = None


@dataclass(frozen=True)
class Undo:
    """What takes a save back: what it wrote, and what was there before."""

    saved: Draft
    before: bytes


@dataclass(frozen=True)
class Standing:
    """How editing one agent stands.

    Attributes:
        draft: None while its file cannot be edited.
        sheet: None while there is nothing to show.
        refusal: Why its file cannot be edited; a draft from before is kept.
        typing: What is half typed.
        undo: Takes the last save back.
        diverged: Somebody else changed a key on disk that the draft changed otherwise.
    """

    draft: Draft | None = None
    sheet: Sheet | None = None
    refusal: ConfigError | None = None
    typing: Typing | None = None
    undo: Undo | None = None
    diverged: bool = False

    @property
    def count(self) -> int:
        """How many changes are not saved."""
        return len(self.draft.changes) if self.draft is not None else 0

    @property
    def open(self) -> bool:
        """Whether leaving now would lose something."""
        return self.count > 0 or self.typing is not None

    @property
    def lost(self) -> str:
        """What leaving now would lose."""
        parts = [counted(self.count, "change")] if self.count else []
        if self.typing is not None:
            parts.append("a text half typed")
        return " and ".join(parts)

    @property
    def editable(self) -> bool:
        """Whether changes can be made."""
        return self.draft is not None and self.refusal is None
