"""What a pane shows, row by row: all output, what passes a filter, or one long line in pieces."""

from __future__ import annotations

import re
from typing import Protocol

from services.output import FilteredLines, Line, SpoolReader

LINE_BYTES = 16_000
"""Bytes read of a line for drawing: enough for 4,000 characters of any script."""

PIECE_BYTES = 2_000
"""Bytes of a long line on one row of `LinePieces`."""

_LONGEST_CONTROL = 64


class Rows(Protocol):
    """Rows with fixed numbers: from `first` to before `end`, more at the end as output comes."""

    def refresh(self) -> None:
        """Take in what came or went; numbers change only here."""
        ...

    @property
    def first(self) -> int:
        """The oldest row."""
        ...

    @property
    def end(self) -> int:
        """The number behind the newest row."""
        ...

    @property
    def settled(self) -> int:
        """The number behind the newest row that will not change any more."""
        ...

    def read(self, start: int, count: int) -> list[tuple[int, Line]]:
        """Rows from `start` on with their lines; those that are gone or not there yet are left out.

        Raises:
            SpoolError: They cannot be read.
        """
        ...

    def line_numbers(self, row: int, count: int) -> list[int]:
        """The numbers that the lines of a row and those below it have in the whole output; fewer at the end."""
        ...

    def line_number(self, row: int) -> int:
        """The number of a row's line in the whole output."""
        ...

    def row_at(self, line: int) -> int:
        """The row of a line, or of the next one shown."""
        ...


class AllLines:
    """Every line of the output; rows are lines."""

    def __init__(self, reader: SpoolReader) -> None:
        self._reader = reader
        self.refresh()

    def refresh(self) -> None:
        """Take in what the reader knows by now."""
        self.first, self.end, self.settled = self._reader.first, self._reader.end, self._reader.ended

    def read(self, start: int, count: int) -> list[tuple[int, Line]]:
        """Read lines from `start` on."""
        return [(line.number, line) for line in self._reader.lines(start, count, LINE_BYTES)]

    def line_numbers(self, row: int, count: int) -> list[int]:
        """The same."""
        return list(range(max(row, self.first), min(row + count, self.end)))

    def line_number(self, row: int) -> int:
        """The same."""
        return row

    def row_at(self, line: int) -> int:
        """The same."""
        return line


class PassingLines:
    """The lines that pass a filter.

    Rows keep their numbers when old output is dropped, unlike those of the filter.

    Args:
        reader: Of the same session.
        filtered: Finds the lines.
    """

    def __init__(self, reader: SpoolReader, filtered: FilteredLines) -> None:
        self._reader = reader
        self._filtered = filtered
        self._probe = (0, 0)
        self.first = self.end = self.settled = 0
        self.refresh()

    def refresh(self) -> None:
        """Take in what was found by now."""
        self.first = self._oldest
        self.end = self.first + self._filtered.rows
        self.settled = self.row_at(self._reader.ended)
        if self.end > self.first:
            self._probe = (self.end - 1, self.line_number(self.end - 1))

    @property
    def _oldest(self) -> int:
        """The number of the filter's row 0: what stands between it and a line whose row is known was not dropped."""
        row, line = self._probe
        return row - self._filtered.row_at(line)

    def read(self, start: int, count: int) -> list[tuple[int, Line]]:
        """Read rows from `start` on; neighbouring lines at once."""
        numbers = self.line_numbers(start, count)
        start = max(start, self._oldest)
        if numbers and numbers[-1] >= self._reader.end:
            self._reader.refresh()
        found: list[tuple[int, Line]] = []
        position = 0
        while position < len(numbers):
            behind = position + 1
            while behind < len(numbers) and numbers[behind] == numbers[behind - 1] + 1:
                behind += 1
            row_of = {number: start + position + index for index, number in enumerate(numbers[position:behind])}
            lines = self._reader.lines(numbers[position], behind - position, LINE_BYTES)
            found += [(row_of[line.number], line) for line in lines if line.number in row_of]
            position = behind
        return found

    def line_numbers(self, row: int, count: int) -> list[int]:
        """The numbers of the lines of a row and those below it; fewer at the end."""
        position = row - self._oldest
        gone = max(-position, 0)
        return self._filtered.line_numbers(position + gone, max(count - gone, 0))

    def line_number(self, row: int) -> int:
        """The number of a row's line in the whole output."""
        numbers = self.line_numbers(row, 1)
        return numbers[0] if numbers else self._reader.end

    def row_at(self, line: int) -> int:
        """The row of a line, or of the next one that passes."""
        return self._oldest + self._filtered.row_at(line)


class LinePieces:
    """One line, however long, a piece a row; pieces break neither characters nor colours.

    Args:
        reader: Has the line.
        line: As it is read for drawing.
    """

    def __init__(self, reader: SpoolReader, line: Line) -> None:
        self._reader = reader
        self.line = line
        self.first = 0
        self.end = max(-(-line.length // PIECE_BYTES), 1)
        self.settled = self.end

    def refresh(self) -> None:
        """A line that is shown whole stays as it was when it was opened."""

    def read(self, start: int, count: int) -> list[tuple[int, Line]]:
        """Read pieces from `start` on."""
        stop = min(start + count, self.end)
        begin = max(start * PIECE_BYTES - _LONGEST_CONTROL, 0)
        wanted = (stop - start) * PIECE_BYTES + 2 * _LONGEST_CONTROL
        data = self._reader.rest(self.line.number, begin, wanted) if start < stop else b""
        cuts = [_cut_near(data, row * PIECE_BYTES - begin) for row in range(start, stop + 1)]
        if stop == self.end:
            cuts[-1] = len(data)
        return [
            (row, Line(row, self.line.stream, self.line.at, data[cut:following], following - cut))
            for row, cut, following in zip(range(start, stop), cuts, cuts[1:], strict=False)
        ]

    def line_numbers(self, row: int, count: int) -> list[int]:
        """The number of the one line."""
        return [self.line.number]

    def line_number(self, row: int) -> int:
        """The number of the one line."""
        return self.line.number

    def row_at(self, line: int) -> int:
        """The first piece."""
        return 0


_CONTROL = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]?)?")


def _cut_near(data: bytes, at: int) -> int:
    """The next place from `at` on that is not inside a character or an escape sequence."""
    if at <= 0:
        return 0
    escape = data.rfind(b"\x1b", max(at - _LONGEST_CONTROL, 0), at)
    if escape >= 0 and (control := _CONTROL.match(data, escape)) and control.end() > at:
        return control.end()
    limit = min(at + 3, len(data))
    while at < limit and 0x80 <= data[at] < 0xC0:
        at += 1
    return at
