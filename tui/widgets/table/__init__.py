"""A table of changing rows: draws only what is visible, keeps cursor and marks on their rows."""

from tui.widgets.table.cells import Cell, Span, cell
from tui.widgets.table.columns import Column, Placed, place
from tui.widgets.table.paged import PagedTable, Window
from tui.widgets.table.table import Table

__all__ = ["Cell", "Column", "PagedTable", "Placed", "Span", "Table", "Window", "cell", "place"]
