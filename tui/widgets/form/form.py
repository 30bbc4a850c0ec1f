"""The form widget: a cursor on one place, a line to type in right there, and messages about what is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.widgets import Input

from tui.actions import Scope
from tui.keymap import bindings
from tui.widgets.form.lines import FormLines
from tui.widgets.form.rows import UNCHANGEABLE, FormRow, Note
from tui.widgets.typing_line import TypingLine

_NARROWEST_LINE = 24


class EntryLine(TypingLine):
    """Where an entry is typed; enter gives it, escape drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "drop", "leave as it was", show=False)]

    def action_drop(self) -> None:
        """Leave the entry as it was."""
        self.post_message(Form.Dropped())


class Form(Container, can_focus=True):
    """Rows of fields. Changes nothing itself: it tells what is wanted, and is given rows anew.

    Attributes:
        read_only: Nothing can be changed now.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(Scope.FORM)

    class About(Message):
        """Something concerns one place of one row."""

        def __init__(self, row: FormRow, slot: int) -> None:
            super().__init__()
            self.row = row
            self.slot = slot

    class Moved(About):
        """The cursor is on another place."""

    class ChangeAsked(About):
        """The place is to be changed; of a list, the last place adds an entry."""

    class RemoveAsked(About):
        """The entry is to go."""

    class ResetAsked(About):
        """The field is to be inherited again."""

    class Typed(About):
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
        self._lines = FormLines()
        self._entry: EntryLine | None = None
        self._typed_at = ("", 0)
        self._trouble: tuple[Note, ...] | None = None
        self._given: tuple[FormRow, ...] = ()
        self.read_only = False

    def compose(self) -> ComposeResult:
        """Lay the lines out."""
        yield self._lines

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Sequence[FormRow]) -> None:
        """Replace the rows; the cursor stays on its field."""
        key, slot = self.at
        self._given = tuple(rows)
        self._draw()
        if not self.go_to(key, slot):
            first = next((number for number, row in enumerate(self.rows) if row.slots), 0)
            self._place(first, 0)

    def _draw(self) -> None:
        """Show the rows, with what is wrong with the text being typed at its field."""
        rows = self._given
        if self._trouble is not None:
            key, trouble = self._typed_at[0], self._trouble
            rows = tuple(_with_notes(row, trouble) if row.key == key else row for row in rows)
        self._lines.show(rows)
        self._place_entry()

    @property
    def rows(self) -> tuple[FormRow, ...]:
        """The rows shown."""
        return self._lines.rows

    @property
    def row(self) -> FormRow | None:
        """The row under the cursor."""
        number = self._lines.cursor[0]
        return self.rows[number] if number < len(self.rows) else None

    @property
    def at(self) -> tuple[str, int]:
        """The key of the row under the cursor, and the place in it."""
        return (self.row.key if self.row else "", self._lines.cursor[1])

    def go_to(self, key: str, slot: int = 0) -> bool:
        """Put the cursor on a place; False when there is no such row."""
        number = next((number for number, row in enumerate(self.rows) if row.key == key and row.slots), -1)
        if number < 0:
            return False
        self._place(number, slot)
        return True

    def _place(self, number: int, slot: int) -> None:
        if not self.rows:
            self._lines.cursor = (0, 0)
            return
        place = (number, max(min(slot, self.rows[number].slots - 1), 0))
        before = self._lines.cursor
        self._lines.cursor = place
        self._lines.refresh()
        self._lines.keep_in_sight(*place)
        if place != before:
            self.refresh_bindings()
            self._say(self.Moved)

    def _say(self, kind: type[About]) -> None:
        if self.row is not None:
            self.post_message(kind(self.row, self._lines.cursor[1]))

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
        self._entry = EntryLine(text, placeholder=placeholder, id="entry")
        if typed is not None:
            self._entry.value = typed
        self._entry.cursor_position = len(self._entry.value)
        self._place_entry()
        self.mount(self._entry)
        self._entry.focus()

    def stop_asking(self) -> None:
        """Take the line to type in away."""
        self._trouble = None
        if self._entry is not None:
            entry, self._entry = self._entry, None
            if entry.has_focus:
                self.focus()
            entry.remove()
            self._draw()

    def show_trouble(self, notes: Sequence[Note]) -> None:
        """Say at its field what is wrong with the text being typed."""
        if self._entry is not None:
            self._trouble = tuple(notes)
            self._draw()

    @property
    def asked(self) -> Form.Typed | None:
        """What stands in the line to type in; None when there is none."""
        row = next((row for row in self.rows if row.key == self._typed_at[0]), None)
        if self._entry is None or row is None:
            return None
        return self.Typed(row, self._typed_at[1], self._entry.value)

    @property
    def asking(self) -> bool:
        """Whether there is a line to type in."""
        return self._entry is not None

    def _place_entry(self) -> None:
        if self._entry is None:
            return
        key, slot = self._typed_at
        number = next((number for number, row in enumerate(self.rows) if row.key == key), None)
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

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────

    def on_focus(self) -> None:
        """Draw the cursor; go on typing where something was left half typed."""
        self._lines.active = True
        self._lines.refresh()
        if self._entry is not None and self._entry.is_mounted:
            self._entry.focus()

    def on_blur(self) -> None:
        """Draw no cursor."""
        self._lines.active = False
        self._lines.refresh()

    def _step(self, by: int) -> None:
        """Go to the next row that can be reached."""
        number, slot = self._lines.cursor
        reachable = [place for place, row in enumerate(self.rows) if row.slots]
        if not reachable:
            return
        behind = [place for place in reachable if place <= number]
        index = max(min(len(behind) - 1 + by, len(reachable) - 1), 0)
        target = self.rows[reachable[index]]
        same = self.rows[number].kind == target.kind == "matrix"
        self._place(reachable[index], slot if same else max(target.chosen, 0))

    def action_down(self) -> None:
        """Go to the next field."""
        self._step(1)

    def action_up(self) -> None:
        """Go to the field before."""
        self._step(-1)

    def action_page_down(self) -> None:
        """Go some fields down."""
        self._step(max(self.size.height // 2, 1))

    def action_page_up(self) -> None:
        """Go some fields up."""
        self._step(-max(self.size.height // 2, 1))

    def action_top(self) -> None:
        """Go to the first field."""
        self._step(-len(self.rows))

    def action_bottom(self) -> None:
        """Go to the last field."""
        self._step(len(self.rows))

    def action_right(self) -> None:
        """Go to the next place of the field."""
        number, slot = self._lines.cursor
        self._place(number, slot + 1)

    def action_left(self) -> None:
        """Go to the place before."""
        number, slot = self._lines.cursor
        self._place(number, slot - 1)

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────────────

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what can be done where the cursor is."""
        row, slot = self.row, self._lines.cursor[1]
        if action in ("change", "add", "remove", "reset", "left", "right"):
            if row is None or row.kind in UNCHANGEABLE or self.read_only:
                return False
            if action == "add":
                return row.kind == "list"
            if action == "remove":
                return row.kind == "list" and slot < len(row.entries)
            if action == "reset":
                return row.own
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
        """Put the cursor where it was clicked; change what was clicked once more, or at once in a matrix."""
        if event.widget is not self._lines or self.asking:
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
