"""Aligned tables for a terminal, tab-separated ones for everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from tui.figures import middle
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe

GAP = "  "
_LEAST = 6
_CODES: dict[Tone, str] = {"muted": "2", "strong": "1", "accent": "36", "good": "32", "warn": "33", "bad": "31"}


class Cell(NamedTuple):
    """A text and what it means.

    Attributes:
        sign: Drawn before the text on a terminal only.
    """

    text: str
    tone: Tone = ""
    sign: str = ""

    @property
    def drawn(self) -> str:
        """Sign and text, cleaned."""
        return f"{self.sign} {safe(self.text)}" if self.sign else safe(self.text)


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        right: Align to the right, as numbers are.
        cut: Where a text that does not fit loses a part; "" keeps it whole.
        spare: Left out on a terminal too narrow for all columns, those with the highest number first; 0 always stays.
    """

    title: str
    right: bool = False
    cut: Literal["", "middle", "end"] = ""
    spare: int = 0


def tabbed(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Lines for a program to read: a heading, then a line a row, cells whole and parted by one tab."""
    heading = "\t".join(column.title for column in columns)
    return [heading, *("\t".join(safe(cell.text) for cell in row) for row in rows)]


def aligned(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int, *, colours: bool) -> list[str]:
    """Lines for a person to read, fitted to the terminal.

    Args:
        columns: From left to right.
        rows: A cell a column; texts are cleaned here.
        width: Columns of the terminal.
        colours: Draw tones.
    """
    headings = [Cell(column.title, "strong") for column in columns]
    texts = [[cell.drawn for cell in row] for row in (headings, *rows)]
    tones = [[cell.tone if colours else "" for cell in row] for row in (headings, *rows)]
    widths = _fitted(columns, texts, width)
    return [
        GAP.join(
            _drawn(columns[index], row[index], column_width, row_tones[index]) for index, column_width in widths.items()
        ).rstrip()
        for row, row_tones in zip(texts, tones, strict=True)
    ]


def _fitted(columns: Sequence[Column], texts: Sequence[Sequence[str]], width: int) -> dict[int, int]:
    """Give each column the width of its longest text; while that is too much, cut columns, then leave some out.

    Returns:
        The width of each column that is shown, by its place.
    """
    widths = {index: max(cell_len(row[index]) for row in texts) for index in range(len(columns))}
    while _excess(_at_least(columns, widths), width) > 0:
        spare = max(widths, key=lambda index: columns[index].spare)
        if not columns[spare].spare:
            break
        del widths[spare]
    while (excess := _excess(widths, width)) > 0:
        cuttable = [index for index in widths if columns[index].cut and widths[index] > _LEAST]
        if not cuttable:
            break
        widest = max(cuttable, key=widths.__getitem__)
        next_widest = max([_LEAST, *(widths[index] for index in cuttable if index != widest)])
        widths[widest] -= min(excess, max(widths[widest] - next_widest, 1))
    return widths


def _at_least(columns: Sequence[Column], widths: dict[int, int]) -> dict[int, int]:
    return {index: min(width, _LEAST) if columns[index].cut else width for index, width in widths.items()}


def _excess(widths: dict[int, int], width: int) -> int:
    return sum(widths.values()) + len(GAP) * (len(widths) - 1) - width


def _drawn(column: Column, text: str, width: int, tone: Tone) -> str:
    if cell_len(text) > width:
        ellipsis = glyphs().ellipsis
        text = middle(text, width, ellipsis) if column.cut == "middle" else set_cell_size(text, width - 1) + ellipsis
    filling = " " * (width - cell_len(text))
    return filling + toned(text, tone) if column.right else toned(text, tone) + filling


def toned(text: str, tone: Tone) -> str:
    """Colour a text with the terminal's own colours."""
    return f"\x1b[{_CODES[tone]}m{text}\x1b[0m" if tone and text else text
