"""Samples as a row of bars, for one cell of a table."""

from __future__ import annotations

from collections.abc import Sequence

from tui.glyphs import Glyphs, glyphs


def bars(values: Sequence[float], width: int, top: float = 0.0, *, signs: Glyphs | None = None) -> str:
    """Draw the newest samples, the last one rightmost.

    Args:
        values: Oldest first; negative ones count as 0.
        width: Columns of the terminal; the text is always this wide, blank where there are no samples yet.
        top: What a full bar stands for; 0 takes the largest sample drawn. Larger samples are full bars too.
        signs: What to draw with; by default what this terminal can show.
    """
    levels = (signs or glyphs()).bars
    newest = values[-width:] if width > 0 else ()
    scale = top if top > 0 else max(newest, default=0.0)
    return "".join(_bar(value, scale, levels) for value in newest).rjust(max(width, 0))


def _bar(value: float, scale: float, levels: str) -> str:
    if not value > 0 or scale <= 0:  # `not >` takes in a value that is no number
        return levels[0]
    if value >= scale:
        return levels[-1]
    return levels[int(value / scale * len(levels))]
