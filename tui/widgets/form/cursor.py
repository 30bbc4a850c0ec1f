"""A cursor that goes from field to field of a form, and from entry to entry."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from tui.widgets.form.lines import FormLines
from tui.widgets.form.rows import FormRow


class FormCursor(Container, can_focus=True):
    """Rows of fields, one of them under the cursor."""

    class About(Message):
        """Something concerns one place of one row."""

        def __init__(self, row: FormRow, slot: int) -> None:
            super().__init__()
            self.row = row
            self.slot = slot

    class Moved(About):
        """The cursor is on another place."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines = FormLines()

    def compose(self) -> ComposeResult:
        """Lay the lines out."""
        yield self._lines

    def on_focus(self) -> None:
        """Draw the cursor."""
        self._light()

    def on_blur(self) -> None:
        """Draw no cursor, unless the focus only moved inside."""
        self._light()

    def on_descendant_focus(self) -> None:
        """Draw the cursor while something is typed at it, too."""
        self._light()

    def on_descendant_blur(self) -> None:
        """Draw no cursor, unless the focus only moved inside."""
        self._light()

    def _light(self) -> None:
        self._lines.active = self.has_focus_within
        self._lines.refresh()

    # ── where it is ───────────────────────────────────────────────────────────────────────────────────────────

    def show(self, rows: Sequence[FormRow]) -> None:
        """Replace the rows; the cursor stays on its field, and on its entry wherever that is now."""
        key, slot = self.at
        entry = self.row.entry_at(slot) if self.row else None
        self._draw(tuple(rows))
        number = self._number_of(key)
        if entry is not None and number is not None and entry in self.rows[number].entries:
            slot = self.rows[number].slot_of(entry, slot)
        if not self.go_to(key, slot):
            first = next((number for number, row in enumerate(self.rows) if row.slots), 0)
            self._place(first, 0)

    def _draw(self, rows: tuple[FormRow, ...]) -> None:
        self._lines.show(rows)

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
        number = self._number_of(key)
        if number is None or not self.rows[number].slots:
            return False
        self._place(number, slot)
        return True

    def _number_of(self, key: str) -> int | None:
        return next((number for number, row in enumerate(self.rows) if row.key == key), None)

    def _place(self, number: int, slot: int) -> None:
        if not self.rows:
            self._lines.cursor = (0, 0)
            return
        place = (number, max(min(slot, self.rows[number].slots - 1), 0))
        before, self._lines.cursor = self._lines.cursor, place
        self._lines.refresh()
        self._lines.keep_in_sight(*place)
        self.refresh_bindings()
        if place != before:
            self._say(self.Moved)

    def _say(self, kind: type[About]) -> None:
        if self.row is not None:
            self.post_message(kind(self.row, self._lines.cursor[1]))

    # ── moving ────────────────────────────────────────────────────────────────────────────────────────────────

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
