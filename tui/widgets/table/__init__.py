"""A table of changing rows: draws only what is visible, keeps cursor and marks on their rows."""

from tui.widgets.table.cells import Cell, Span, cell
from tui.widgets.table.columns import Column, Placed, place
from tui.widgets.table.table import Table

__all__ = ["Cell", "Column", "Placed", "Span", "Table", "cell", "place"]
