"""Cells of a table that say how a session stands."""

from __future__ import annotations

from tui.glyphs import glyphs
from tui.looks import LOOKS
from tui.store import SessionRow
from tui.widgets.table import Cell, Span


def state_word(row: SessionRow) -> str:
    """The word for the state of a row; one that runs and asks the operator waits."""
    word = row.state.value if row.state is not None else "orphan"
    return "waiting" if row.asking and word == "running" else word


def state_cell(row: SessionRow) -> Cell:
    """Sign and word of a session's state."""
    word = state_word(row)
    sign, tone = LOOKS[word]
    return (Span(f"{getattr(glyphs(), sign)} {word}", tone),)


def engine_cell(row: SessionRow) -> Cell:
    """What runs a session; says so when nothing keeps it from the rest of the machine."""
    if not row.confined:
        return (Span(f"{glyphs().warning} unconfined", "warn"),)
    elsewhere = row.node and row.node != "local"
    return (Span(f"{row.engine}@{row.node}" if elsewhere else row.engine, "muted"),)
