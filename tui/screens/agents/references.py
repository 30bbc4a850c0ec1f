"""Every place that names an agent, and all that is its own, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import middle
from tui.glyphs import glyphs
from tui.text import safe
from tui.widgets.table import Cell, Column, Span, cell

if TYPE_CHECKING:
    from services.operations import Reference

_LONGEST = 2000


@dataclass(frozen=True)
class PlacedReference:
    """One reference, in clean text.

    Attributes:
        key: Unique among those shown.
        hard: It keeps the agent from being deleted.
        where: File and line; "" when it stands in no file.
        note: The key and what stands there, or what can be done about a hard one.
    """

    key: str
    hard: bool
    text: str
    where: str
    note: str


def placed(references: Iterable[Reference]) -> tuple[PlacedReference, ...]:
    """Take over what is shown, in the order given."""
    return tuple(_row(number, reference) for number, reference in enumerate(references))


def _row(number: int, reference: Reference) -> PlacedReference:
    file = f"{reference.owner}/agent.toml" if reference.owner else "pinfold.toml"
    where = f"{file}:{reference.line}" if reference.line else file if reference.file else ""
    stands = f"{reference.key} = {reference.value}" if reference.value else reference.key
    note = reference.fix if reference.hard and reference.fix else stands if reference.file else ""
    return PlacedReference(
        str(number), reference.hard, safe(reference.text[:_LONGEST]), safe(where[:_LONGEST]), safe(note[:_LONGEST])
    )


def reference_columns() -> list[Column[PlacedReference]]:
    """The columns from left to right."""
    return [
        Column("hard", "KIND", lambda row, _: _kind(row), None, 6),
        Column("text", "WHAT", lambda row, _: cell(row.text), None, 24, grow=3),
        Column("note", "KEY, OR WHAT TO DO", lambda row, _: cell(row.note, "muted"), None, 18, grow=4, drop=1),
        Column("where", "WHERE", lambda row, width: _middle(row.where, width), None, 18, grow=1, drop=2),
    ]


def _kind(row: PlacedReference) -> Cell:
    return (Span(f"{glyphs().failed} hard", "bad"),) if row.hard else (Span("  soft", "muted"),)


def _middle(text: str, width: int) -> Cell:
    return cell(middle(text, width, glyphs().ellipsis), "muted")
