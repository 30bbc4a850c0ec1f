"""The last door before a terminal that is not known to read UTF-8: everything painted becomes plain ASCII."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_DRAWN_AS = str.maketrans(
    {
        "│": "|",
        "┃": "|",
        "║": "|",
        "─": "-",
        "━": "=",
        "═": "=",
        "▁": "_",
        "▂": ".",
        "▃": ":",
        "▄": "-",
        "▅": "=",
        "▆": "+",
        "▇": "*",
        "█": "#",
        "▀": "-",
        "▌": "|",
        "▐": "|",
        "▎": "|",
        "▏": "|",
        "▔": "-",
        "▕": "|",
        "░": ".",
        "▒": ":",
        "▓": "%",
        "●": "*",
        "○": "o",
        "◉": "*",
        "◌": "o",
        "■": "#",
        "▶": ">",
        "◀": "<",
        "▸": ">",
        "▾": "v",
        "▴": "^",
        "▲": "^",
        "▼": "v",
        "↑": "^",
        "↓": "v",
        "←": "<",
        "→": ">",
        "…": "~",
        "·": ".",
        "•": "*",
        "–": "-",
        "—": "-",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "✓": "+",
        "✗": "x",
        "⚠": "!",
        "⚑": "!",
        "⏸": "=",
        "\xa0": " ",
    }
)


class AsciiFilter(LineFilter):
    """Replaces every character that is not ASCII by one that is, or by as many `?` as it has columns."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AsciiFilter)  # all are alike, so that what one has rewritten is kept for the next

    def __hash__(self) -> int:
        return hash(AsciiFilter)

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Rewrite the texts of a line; styles and widths stay."""
        return [
            segment if segment.control or segment.text.isascii() else Segment(ascii_text(segment.text), segment.style)
            for segment in segments
        ]


@lru_cache(4096)
def ascii_text(text: str) -> str:
    """Write a text in ASCII, as many columns wide as before."""
    return "".join(
        character if character.isascii() else _ascii_character(character) for character in text.translate(_DRAWN_AS)
    )


@lru_cache(4096)
def _ascii_character(character: str) -> str:
    width = get_character_cell_size(character)
    if width == 1:
        if "\u2500" <= character <= "\u257f":
            return "+"
        base = unicodedata.normalize("NFKD", character)[0]
        if base.isascii() and base.isprintable():
            return base
    return "?" * width
