"""Lines of output in their own colours, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rich.cells import cell_len

from services.output import Color, LineCleaner, Span, TextStyle
from tui.text import printable, settle

_LONGEST = 4000
_CLEANER = LineCleaner(settle, cell_len, _LONGEST)
_FLAGS = (("bold", "1"), ("dim", "2"), ("italic", "3"), ("underline", "4"), ("reverse", "7"), ("strike", "9"))


def drawn(data: bytes, *, colours: bool) -> str:
    """Make a line fit for a terminal: its text and, when wanted, its colours, which end with it.

    Lines longer than 4,000 bytes are drawn whole and plain.
    """
    if len(data) > _LONGEST:
        return printable(data)
    spans = _CLEANER.clean(data)
    return _coloured(spans) if colours else "".join(span.text for span in spans)


def _coloured(spans: Iterable[Span]) -> str:
    parts: list[str] = []
    for text, style in spans:
        codes = _codes(style)
        parts.append(f"\x1b[{codes}m{text}\x1b[0m" if codes else text)
    return "".join(parts)


@lru_cache(maxsize=1024)
def _codes(style: TextStyle) -> str:
    codes = [code for flag, code in _FLAGS if getattr(style, flag)]
    if style.fg != style.bg:  # text in the colour of its ground would not be seen
        codes += [_colour(style.fg, 30), _colour(style.bg, 40)]
    return ";".join(filter(None, codes))


def _colour(colour: Color, base: int) -> str:
    """The code of a colour; `base` is 30 for text and 40 for its ground."""
    if colour is None:
        return ""
    if not isinstance(colour, int):
        return f"{base + 8};2;{';'.join(map(str, colour))}"
    if colour < 8:
        return str(base + colour)
    return str(base + 60 + colour - 8) if colour < 16 else f"{base + 8};5;{colour}"
