"""Rows near the screen, read and painted once each."""

from __future__ import annotations

from collections.abc import Callable

from services.errors import SpoolError
from services.output import Line, Stream
from tui.widgets.log_pane.painting import LinePainter, Part
from tui.widgets.log_pane.rows import Rows

_KEPT = 600
_GONE = b"dropped: only the newest output is kept"


class Sheet:
    """Keeps what was read of some rows, and how it looks.

    Args:
        rows: Where they come from.
        make_painter: Makes what draws them, once the first is drawn.
    """

    def __init__(self, rows: Rows, make_painter: Callable[[], LinePainter]) -> None:
        self.rows = rows
        self._make_painter = make_painter
        self._painter: LinePainter | None = None
        self._lines: dict[int, Line] = {}
        self._painted: dict[int, tuple[Part, ...]] = {}
        self._settled = rows.settled

    def repaint(self) -> None:
        """Draw differently from now on."""
        self._painter = None
        self._painted.clear()

    def forget_unsettled(self) -> bool:
        """Forget rows that may have changed since they were read; whether there were any."""
        changed = [row for row in self._lines if row >= self._settled]
        for row in changed:
            del self._lines[row]
            self._painted.pop(row, None)
        self._settled = self.rows.settled
        return bool(changed)

    def read(self, start: int, count: int) -> None:
        """Read rows at once that will be wanted next."""
        start, stop = max(start, self.rows.first), min(start + count, self.rows.end)
        while start < stop and start in self._lines:
            start += 1
        while start < stop and stop - 1 in self._lines:
            stop -= 1
        if start < stop:
            self._read(start, min(stop - start, _KEPT // 2))

    def line(self, row: int) -> Line:
        """The line of a row; a remark in its place when it cannot be had."""
        if row not in self._lines:
            self._read(row, 1)
        line = self._lines.get(row)
        return Line(row, Stream.NOTE, 0, _GONE, len(_GONE)) if line is None else line

    def parts(self, row: int) -> tuple[Part, ...]:
        """A row as it is drawn."""
        painted = self._painted.get(row)
        if painted is None:
            if self._painter is None:
                self._painter = self._make_painter()
            painted = self._painted[row] = self._painter.paint(self.line(row))
        return painted

    def _read(self, start: int, count: int) -> None:
        try:
            found = self.rows.read(start, count)
        except SpoolError as error:
            remark = f"cannot read this line: {error}".encode()
            found = [(row, Line(row, Stream.NOTE, 0, remark, len(remark))) for row in range(start, start + count)]
        for row in list(self._lines)[: max(len(self._lines) + len(found) - _KEPT, 0)]:
            del self._lines[row]
            self._painted.pop(row, None)
        self._lines.update(found)
