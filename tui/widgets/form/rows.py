"""What a form shows: clean text, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "columns", "list", "text", "choice", "matrix", "fixed"]
"""How a row is drawn and changed.

A heading and the columns above a matrix hold no value, and a fixed row only shows one.
"""

UNCHANGEABLE: frozenset[Kind] = frozenset({"heading", "columns", "fixed"})
UNREACHABLE: frozenset[Kind] = frozenset({"heading", "columns"})


@dataclass(frozen=True)
class Note:
    """A remark on a field.

    Attributes:
        error: It cannot be saved like this; else it is a warning.
        entry: The entry of a list it is about, counted from 0; -1 is the field as a whole.
    """

    text: str
    error: bool = True
    entry: int = -1


@dataclass(frozen=True)
class FormRow:
    """One field.

    Attributes:
        key: Names it; unique in a form.
        entries: Of a list its entries, of `columns` and a matrix the labels of the columns, else the one value.
        chosen: The column chosen in a matrix, counted from 0.
        empty: Said where there is no entry.
        origin: Where the value is written.
        own: It is the agent's own, not inherited.
        inherits: The own value can be given up for an inherited one.
        changed: It is not saved yet.
        help: What the field is for, one sentence.
    """

    key: str
    label: str
    kind: Kind
    entries: tuple[str, ...] = ()
    chosen: int = -1
    empty: str = ""
    origin: str = ""
    own: bool = False
    inherits: bool = True
    changed: bool = False
    notes: tuple[Note, ...] = ()
    help: str = ""

    @property
    def slots(self) -> int:
        """How many places the cursor has in it."""
        if self.kind in UNREACHABLE:
            return 0
        if self.kind == "list":
            return len(self.entries) + 1
        return len(self.entries) if self.kind == "matrix" else 1

    def entry_at(self, slot: int) -> str | None:
        """The entry at a place of a list; None at the place for a new one, and in every other row."""
        return self.entries[slot] if self.kind == "list" and slot < len(self.entries) else None

    def slot_of(self, entry: str | None, slot: int) -> int:
        """Where an entry that was at a place before is now.

        Args:
            entry: As `entry_at` told it.
            slot: Where it was; of a list that has lost the entry, the answer is the place for a new one.
        """
        if self.kind != "list" or (entry is not None and self.entry_at(slot) == entry):
            return slot
        return self.entries.index(entry) if entry in self.entries else len(self.entries)

    def note_on(self, entry: int) -> Note | None:
        """The worst remark on one entry."""
        notes = [note for note in self.notes if note.entry == entry]
        return max(notes, key=lambda note: note.error, default=None)
