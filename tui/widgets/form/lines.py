"""The lines of a form, drawn, with the cursor on one place of one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.glyphs import glyphs
from tui.looks import Tone
from tui.widgets.form.layout import GUTTER, Columns, FormLine, Piece, lay_out
from tui.widgets.form.rows import FormRow
from tui.widgets.table import Cell, Span
from tui.widgets.table.cells import fit


class FormLines(ScrollView, can_focus=False):
    """Draws rows, and knows where each place is."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "form--text",
        "form--row",
        "form--chip",
        "form--cursor",
        "form--line",
        *(f"form--{tone}" for tone in ("muted", "strong", "accent", "good", "warn", "bad")),
    }

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[FormRow, ...] = ()
        self.lines: tuple[FormLine, ...] = ()
        self.columns = Columns.of(80)
        self.cursor = (0, 0)
        self.active = False

    def show(self, rows: Sequence[FormRow]) -> None:
        """Replace the rows."""
        self.rows = tuple(rows)
        self._arrange()

    def on_resize(self) -> None:
        """Share the new width out."""
        self._arrange()

    def _arrange(self) -> None:
        width = max(self.scrollable_content_region.width, 30)
        self.columns = Columns.of(width)
        self.lines = lay_out(self.rows, self.columns)
        self.virtual_size = Size(width, len(self.lines))
        self.refresh()

    def place_of(self, row: int, slot: int) -> tuple[int, Piece | None]:
        """The line a place is on, counted from 0, and its piece; None for a place that is not drawn."""
        first = 0
        for number, line in enumerate(self.lines):
            if line.row == row:
                for piece in line.pieces:
                    if piece.slot == slot:
                        return number, piece
                if line.first:
                    first = number
        return first, None

    def at(self, x: int, y: int) -> tuple[int, int] | None:
        """The row and the place a point of the widget is on; the place is -1 beside every piece."""
        number = y + self.scroll_offset.y
        if not 0 <= number < len(self.lines):
            return None
        line = self.lines[number]
        for piece in line.pieces:
            if piece.x <= x < piece.x + piece.width:
                return line.row, piece.slot
        return line.row, -1

    def keep_in_sight(self, row: int, slot: int) -> None:
        """Scroll as little as needed to show a place, with the remarks under it."""
        number, _ = self.place_of(row, slot)
        last = max((at for at, line in enumerate(self.lines) if line.row == row), default=number)
        top, height = self.scroll_offset.y, max(self.size.height, 1)
        above = number - 1 if number and self.lines[number - 1].row != row else number
        wanted = max(top, min(last, number + 3) - height + 1)
        self.scroll_to(y=min(wanted, above if above < top else number), animate=False, immediate=True, force=True)

    # ── drawing ───────────────────────────────────────────────────────────────────────────────────────────────

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self.scrollable_content_region.width
        base = self.get_component_rich_style("form--text")
        number = y + self.scroll_offset.y
        if number >= len(self.lines):
            return Strip.blank(self.size.width, base)
        line = self.lines[number]
        row = self.rows[line.row]
        here = line.row == self.cursor[0]
        if here and self.active:
            base += self.get_component_rich_style("form--row", partial=True)
        if line.note is not None:
            return self._strip(self._note(line), base, width)
        if row.kind == "heading":
            return self._heading(row, base, width)
        return self._value_line(line, row, base, width, here=here and self.active)

    def _heading(self, row: FormRow, base: Style, width: int) -> Strip:
        signs = glyphs()
        rule = self.get_component_rich_style("form--line", partial=True)
        label = f"{row.label} "
        dashes = signs.line * max(width - GUTTER - cell_len(label), 0)
        muted = base + self._tone("muted")
        strip = Strip([Segment(" " * GUTTER, base), Segment(label, muted), Segment(dashes, base + rule)])
        return strip.adjust_cell_length(width, base)

    def _note(self, line: FormLine) -> Cell:
        assert line.note is not None
        tone: Tone = "bad" if line.note.error else "warn"
        return (Span(" " * self.columns.value), Span(f" {glyphs().warning} {line.note.text}", tone))

    def _strip(self, cell: Cell, base: Style, width: int) -> Strip:
        drawn = fit(cell, width, ellipsis=glyphs().ellipsis)
        return Strip([Segment(span.text, base + self._tone(span.tone)) for span in drawn]).adjust_cell_length(
            width, base
        )

    def _value_line(self, line: FormLine, row: FormRow, base: Style, width: int, *, here: bool) -> Strip:
        signs = glyphs()
        pointer = signs.pointer if here and line.first else " "
        mark = "*" if row.changed and line.first else " "
        label = row.label if line.first else ""
        cell = fit((Span(label, "strong" if row.changed else "muted"),), self.columns.label, ellipsis=signs.ellipsis)
        segments = [
            Segment(pointer, base + self._tone("accent")),
            Segment(f"{mark} ", base + self._tone("warn")),
            *(Segment(span.text, base + self._tone(span.tone)) for span in cell),
        ]
        x = GUTTER + self.columns.label
        for piece in line.pieces:
            segments.append(Segment(" " * (piece.x - x), base))
            segments.append(Segment(piece.text, self._piece_style(row, piece, base, here=here)))
            x = piece.x + piece.width
        strip = Strip(segments)
        if line.first and row.origin and self.columns.origin:
            strip = self._with_origin(strip, row, base, width)
        return strip.adjust_cell_length(width, base)

    def _with_origin(self, strip: Strip, row: FormRow, base: Style, width: int) -> Strip:
        start = self.columns.value + self.columns.room + 1
        if strip.cell_length > start:
            return strip
        tone: Tone = "warn" if row.changed else ("accent" if row.own else "muted")
        (origin, *_) = fit((Span(row.origin, tone),), width - start, ellipsis=glyphs().ellipsis)
        padding = Segment(" " * (start - strip.cell_length), base)
        return Strip([*strip, padding, Segment(origin.text, base + self._tone(tone))])

    def _piece_style(self, row: FormRow, piece: Piece, base: Style, *, here: bool) -> Style:
        if here and piece.slot == self.cursor[1]:
            return base + self.get_component_rich_style("form--cursor", partial=True)
        if row.kind == "columns":
            return base + self._tone("muted")
        if row.kind == "matrix":
            return base + self._tone("accent" if piece.slot == row.chosen else "muted")
        if row.kind == "list" and piece.slot < len(row.entries):
            note = row.note_on(piece.slot)
            chip = base + self.get_component_rich_style("form--chip", partial=True)
            if note is not None:
                return chip + self._tone("bad" if note.error else "warn")
            return chip + self._tone("" if row.own else "muted")
        if row.kind == "list" or not row.entries or row.kind == "fixed":
            return base + self._tone("muted")
        return base + self._tone("strong" if row.own else "")

    def _tone(self, tone: Tone) -> Style:
        return self.get_component_rich_style(f"form--{tone}", partial=True) if tone else Style.null()
