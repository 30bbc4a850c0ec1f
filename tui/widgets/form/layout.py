"""Where everything in a form stands: pure arithmetic on rows and a width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from tui.figures import middle
from tui.glyphs import glyphs
from tui.widgets.form.rows import FormRow, Note

GUTTER = 3
"""Columns for the pointer and the sign of a change."""

_WIDE = 84
"""A form this wide has room for long labels and origins."""

_NARROW = 58
"""A form narrower than this has no room for origins beside the values."""

_PADDING = 2
_GAP = 1
_MATRIX_GAP = 3


@dataclass(frozen=True)
class Columns:
    """The three columns of a form, in columns of the terminal.

    Attributes:
        label: Width of the labels.
        value: Where values begin.
        room: Width of the values.
        origin: Width of the origins; 0 leaves them out.
    """

    label: int
    value: int
    room: int
    origin: int

    @classmethod
    def of(cls, width: int) -> Columns:
        """Share out a width."""
        if width >= _WIDE:
            label, origin = 17, 18
        else:
            label, origin = 16, 16 if width >= _NARROW else 0
        value = GUTTER + label
        return cls(label, value, max(width - value - origin - 1, 8), origin)


@dataclass(frozen=True)
class Piece:
    """Something the cursor can be on, as it stands on its line.

    Attributes:
        slot: Which place of its row.
        x: Its first column of the terminal.
        text: As it fits.
    """

    slot: int
    x: int
    text: str

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return cell_len(self.text)


@dataclass(frozen=True)
class FormLine:
    """One line of a form.

    Attributes:
        row: The place of its row, counted from 0.
        first: The line with the row's label.
        note: The remark it holds; None for a line of values.
    """

    row: int
    first: bool
    pieces: tuple[Piece, ...] = ()
    note: Note | None = None


def lay_out(rows: Sequence[FormRow], columns: Columns) -> tuple[FormLine, ...]:
    """Put all rows on lines; a list takes as many as its entries need."""
    return tuple(line for place, row in enumerate(rows) for line in _lines(place, row, columns))


def _lines(place: int, row: FormRow, columns: Columns) -> Iterator[FormLine]:
    if row.kind in ("matrix", "columns"):
        lines = [_across(row, columns)]
    else:
        lines = list(_wrapped(_values(row, columns), columns)) or [()]
    for number, pieces in enumerate(lines):
        yield FormLine(place, number == 0, pieces)
    for note in row.notes:
        yield FormLine(place, False, note=note)


def _across(row: FormRow, columns: Columns) -> tuple[Piece, ...]:
    """The cells of a matrix, or the labels above them, each as wide as its label."""
    pieces: list[Piece] = []
    x = columns.value
    for number, label in enumerate(row.entries):
        dot = glyphs().running if number == row.chosen else " "
        text = f" {label}" if row.kind == "columns" else f" ({dot})"
        pieces.append(Piece(number, x, text))
        x += max(cell_len(label), 3) + _MATRIX_GAP
    return tuple(pieces)


def _values(row: FormRow, columns: Columns) -> Iterator[str]:
    ellipsis, most = glyphs().ellipsis, columns.room - _PADDING
    if row.kind == "heading":
        return
    if row.kind == "list":
        for number, entry in enumerate(row.entries):
            sign = f"{glyphs().warning} " if row.note_on(number) else ""
            yield f" {sign}{middle(entry, most - len(sign), ellipsis)} "
        yield " + " if row.entries or not row.empty else f" {row.empty} + "
        return
    value = " ".join(row.entries) or row.empty
    arrow = f" {glyphs().down}" if row.kind == "choice" else ""
    yield f" {middle(value, most - len(arrow), ellipsis)}{arrow} "


def _wrapped(texts: Iterator[str], columns: Columns) -> Iterator[tuple[Piece, ...]]:
    """Fill lines from left to right."""
    line: list[Piece] = []
    x = columns.value
    for slot, text in enumerate(texts):
        width = cell_len(text)
        if line and x + width > columns.value + columns.room:
            yield tuple(line)
            line, x = [], columns.value
        line.append(Piece(slot, x, text))
        x += width + _GAP
    if line:
        yield tuple(line)
