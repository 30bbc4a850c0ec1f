"""What a change means, in words, line by line; what widens comes first and says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.glyphs import glyphs
from tui.text import safe
from tui.widgets.table import Cell, Span

if TYPE_CHECKING:
    from services.policy import Change as Difference

_MOST = 200
_WIDTH = 9


def difference_lines(differences: Sequence[Difference]) -> list[Cell]:
    """Write each difference on a line of its own."""
    lines = [_line(difference) for difference in differences[:_MOST]]
    if len(differences) > _MOST:
        lines.append((Span(f"{' ' * _WIDTH} and {len(differences) - _MOST:,} more", "muted"),))
    return lines


def _line(difference: Difference) -> Cell:
    text = safe(difference.text[:400])
    if difference.widens:
        return (Span(f"{glyphs().warning} widens ".ljust(_WIDTH), "warn"), Span(f" {text}"))
    return (Span(" " * _WIDTH), Span(f" {text}", "muted"))
