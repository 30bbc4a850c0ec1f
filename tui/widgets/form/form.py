"""The form widget: fields to be changed, a line to type in right at its field, and messages about what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from tui.actions import Scope
from tui.keymap import bindings
from tui.widgets.form.cursor import FormCursor
from tui.widgets.form.rows import UNCHANGEABLE, FormRow, Note
from tui.widgets.typing_line import TypingLine

_NARROWEST_LINE = 24


class EntryLine(TypingLine):
    """Where an entry is typed; enter gives it, escape drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", "leave as it was", show=False)]

    def action_drop(self) -> None:
        """Leave the entry as it was."""
        self.post_message(Form.Dropped())


class Form(FormCursor):
    """Changes nothing itself: it tells what is wanted, and is given rows anew.

    Attributes:
        read_only: Nothing can be changed now.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.FORM)

    class ChangeAsked(FormCursor.About):
        """The place is to be changed; of a list, the last place adds an entry."""

    class RemoveAsked(FormCursor.About):
        """The entry is to go."""

    class ResetAsked(FormCursor.About):
        """The field is to be inherited again."""

    class Typed(FormCursor.About):
        """What stands in the line to type in; not given yet."""

        def __init__(self, row: FormRow, slot: int, typed: str) -> None:
            super().__init__(row, slot)
            self.typed = typed

    class Given(Typed):
        """What was typed is to be taken."""

    class Dropped(Message):
        """What was typed is to be forgotten."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._entry: EntryLine | None = None
        self._typed_at = ("", 0)
        self._typed_over: str | None = None
        self._trouble: tuple[Note, ...] | None = None
        self._given: tuple[FormRow, ...] = ()
        self.read_only = False

    def _draw(self, rows: tuple[FormRow, ...]) -> None:
        """Show the rows, with what is wrong with the text being typed at its field."""
        self._given = rows
        if self._entry is not None:
            key, slot = self._typed_at
            slots = [row.slot_of(self._typed_over, slot) for row in rows if row.key == key]
            self._typed_at = (key, slots[0] if slots else slot)
        if self._trouble is not None:
            key, trouble = self._typed_at[0], self._trouble
            rows = tuple(_with_notes(row, trouble) if row.key == key else row for row in rows)
        self._lines.show(rows)
        self._place_entry()

    # ── typing ────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, text: str, *, placeholder: str = "", typed: str | None = None) -> None:
        """Put a line to type in where the cursor is.

        Args:
            text: To begin with.
            placeholder: Clean text.
            typed: What was typed here before, instead of `text`.
        """
        self.stop_asking()
        self._typed_at = self.at
        self._typed_over = self.row.entry_at(self._typed_at[1]) if self.row else None
        self._entry = EntryLine(text, placeholder=placeholder)
        if typed is not None:
            self._entry.value = typed
        self._entry.cursor_position = len(self._entry.value)
        self._place_entry()
        self.mount(self._entry)
        self._entry.focus()
        self._say(self.Moved)

    def stop_asking(self) -> None:
        """Take the line to type in away."""
        self._trouble = None
        if self._entry is not None:
            entry, self._entry = self._entry, None
            if entry.has_focus:
                self.focus()
            entry.remove()
            self._draw(self._given)
            self._say(self.Moved)

    def show_trouble(self, notes: Sequence[Note]) -> None:
        """Say at its field what is wrong with the text being typed."""
        if self._entry is not None:
            self._trouble = tuple(notes)
            self._draw(self._given)

    @property
    def asked(self) -> Form.Typed | None:
        """What stands in the line to type in; None when there is none."""
        number = self._number_of(self._typed_at[0])
        if self._entry is None or number is None:
            return None
        return self.Typed(self.rows[number], self._typed_at[1], self._entry.value)

    @property
    def asking(self) -> bool:
        """Whether there is a line to type in."""
        return self._entry is not None

    def _place_entry(self) -> None:
        if self._entry is None:
            return
        key, slot = self._typed_at
        number = self._number_of(key)
        if number is None:
            return
        line, piece = self._lines.place_of(number, slot)
        columns = self._lines.columns
        end = columns.value + columns.room
        x = min(piece.x if piece else columns.value, max(end - _NARROWEST_LINE, columns.value))
        y = line - self._lines.scroll_offset.y
        self._entry.styles.width = max(end - x, 1)
        self._entry.styles.offset = (x, y)
        self._entry.set_class(not 0 <= y < max(self.size.height, 1), "-out-of-sight")

    def on_mount(self) -> None:
        """Keep the line to type in beside its field."""
        self.watch(self._lines, "scroll_y", self._place_entry, init=False)
        self.watch(self._lines, "virtual_size", self._place_entry, init=False)

    @on(Input.Changed)
    def _tell_typed(self, message: Input.Changed) -> None:
        message.stop()
        self._tell(self.Typed, message.value)

    @on(Input.Submitted)
    def _tell_given(self, message: Input.Submitted) -> None:
        message.stop()
        self._tell(self.Given, message.value)

    def _tell(self, kind: type[Typed], typed: str) -> None:
        if (asked := self.asked) is not None:
            self.post_message(kind(asked.row, asked.slot, typed))

    def on_focus(self) -> None:
        """Go on typing where something was left half typed."""
        if self._entry is not None and self._entry.is_mounted:
            self._entry.focus()

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────────────

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done where the cursor is."""
        row, slot = self.row, self._lines.cursor[1]
        if action in ("change", "add", "remove", "reset", "left", "right"):
            if row is None or row.kind in UNCHANGEABLE or self.read_only or self.asking:
                return False
            if action == "add":
                return row.kind == "list"
            if action == "remove":
                return row.kind == "list" and slot < len(row.entries)
            if action == "reset":
                return row.own and row.inherits
            return action == "change" or row.slots > 1
        return True

    def action_change(self) -> None:
        """Ask for the place under the cursor to be changed."""
        self._say(self.ChangeAsked)

    def action_add(self) -> None:
        """Ask for another entry of the list."""
        if self.row is not None:
            self._place(self._lines.cursor[0], self.row.slots - 1)
            self._say(self.ChangeAsked)

    def action_remove(self) -> None:
        """Ask for the entry to go."""
        self._say(self.RemoveAsked)

    def action_reset(self) -> None:
        """Ask for the field to be inherited again."""
        self._say(self.ResetAsked)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where it was clicked; change what was clicked once more, or at once in a matrix.

        While something is typed, a click beside it gives it, as enter does.
        """
        if event.widget is not self._lines:
            return
        if self._entry is not None:
            self._tell(self.Given, self._entry.value)
            return
        place = self._lines.at(event.x, event.y)
        if place is None or not self.rows[place[0]].slots:
            return
        number, slot = place
        before = self._lines.cursor
        self._place(number, max(slot, 0))
        row = self.rows[number]
        adds = row.kind == "list" and slot == len(row.entries)
        if slot >= 0 and self.check_action("change", ()) and (row.kind == "matrix" or adds or before == (number, slot)):
            self._say(self.ChangeAsked)


def _with_notes(row: FormRow, notes: tuple[Note, ...]) -> FormRow:
    kept = tuple(note for note in row.notes if note not in notes)
    return replace(row, notes=(*notes, *kept))
