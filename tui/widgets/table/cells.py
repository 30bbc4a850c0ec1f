"""What a table draws in one cell: text in a few tones, never wider than its column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from tui.looks import Tone


class Span(NamedTuple):
    """A piece of text in one tone; foreign text has passed `tui.text.safe`."""

    text: str
    tone: Tone = ""


Cell = tuple[Span, ...]
"""What one cell shows, from left to right."""


def cell(text: str, tone: Tone = "") -> Cell:
    """A cell of one text."""
    return (Span(text, tone),)


def fit(spans: Cell, width: int, *, right: bool = False, ellipsis: str = "…") -> Cell:
    """Cut or fill a cell to exactly `width` columns of the terminal.

    Args:
        spans: The cell.
        width: Columns of the terminal.
        right: Align to the right.
        ellipsis: Ends a text that was cut.
    """
    used = sum(cell_len(span.text) for span in spans)
    if used < width:
        filling = Span(" " * (width - used))
        return (filling, *spans) if right else (*spans, filling)
    if used == width:
        return spans
    return _cut(spans, width, ellipsis)


def _cut(spans: Sequence[Span], width: int, ellipsis: str) -> Cell:
    room = max(width - cell_len(ellipsis), 0)
    kept: list[Span] = []
    for span in spans:
        length = cell_len(span.text)
        if length > room:
            kept.append(Span(set_cell_size(span.text, room) + ellipsis, span.tone))
            break
        kept.append(span)
        room -= length
    return tuple(kept) if width >= cell_len(ellipsis) else (Span(" " * width),)
