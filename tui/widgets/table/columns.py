"""The columns of a table and how they share its width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from tui.widgets.table.cells import Cell

R = TypeVar("R")

GAP = 2
"""Empty columns of the terminal between two columns of a table."""


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column: what it is called, how wide it is, and what it shows of a row.

    Attributes:
        key: Names it in code.
        label: The heading.
        draw: What it shows of a row, given how wide it is now.
        order: What rows are sorted by; None when the column cannot sort.
        width: Columns of the terminal it needs.
        grow: Its share of what is left over; 0 keeps it at `width`.
        most: The widest it grows; 0 is without a limit.
        right: Align to the right, as numbers are.
        drop: When the table gets narrow, the columns with 1 go first, then 2, …; 0 never goes.
    """

    key: str
    label: str
    draw: Callable[[R, int], Cell]
    order: Callable[[R], Any] | None = None
    width: int = 8
    grow: int = 0
    most: int = 0
    right: bool = False
    drop: int = 0


class Placed(NamedTuple, Generic[R]):
    """A column and where it stands: `x` and `width` in columns of the terminal."""

    column: Column[R]
    x: int
    width: int


def place(columns: Sequence[Column[R]], width: int, *, indent: int = 0) -> tuple[Placed[R], ...]:
    """Share out `width` columns of the terminal.

    What does not fit is left out, by `drop`; then the columns that may grow share what is left over.

    Args:
        columns: All columns, from left to right.
        width: The width of the table.
        indent: Columns of the terminal kept free on the left.
    """
    shown = list(columns)
    while len(shown) > 1 and _needed(shown) > width - indent:
        optional = [column for column in shown if column.drop]
        if not optional:
            break
        shown.remove(min(optional, key=lambda column: column.drop))
    widths = _grown(shown, width - indent - _needed(shown))
    placed: list[Placed[R]] = []
    x = indent
    for column in shown:
        placed.append(Placed(column, x, min(widths[column.key], max(width - x, 0))))
        x += widths[column.key] + GAP
    return tuple(placed)


def _needed(columns: Sequence[Column[R]]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def _grown(columns: Sequence[Column[R]], spare: int) -> dict[str, int]:
    widths = {column.key: column.width for column in columns}
    growing = [column for column in columns if column.grow]
    while spare > 0 and growing:
        shares = sum(column.grow for column in growing)
        given = 0
        for column in list(growing):
            share = max(spare * column.grow // shares, 1)
            if column.most:
                share = min(share, column.most - widths[column.key])
            share = min(share, spare - given)
            widths[column.key] += share
            given += share
            if column.most and widths[column.key] >= column.most:
                growing.remove(column)
        if not given:
            break
        spare -= given
    return widths
