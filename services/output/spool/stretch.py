"""A run of neighbouring blocks, read at once."""

from __future__ import annotations

from dataclasses import dataclass

from services.output.model import Stream
from services.output.spool.layout import Run

_NEWLINE = 10


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of a session's output.

    Attributes:
        offset: Of its first byte, over the whole session.
        line: The number of the line its first byte belongs to.
        next_line: The number of the line behind its last byte.
        continues: That byte does not start the line.
        data: The bytes.
        more: What follows of a line that goes on behind them, as far as a pattern may look.
        runs: Whose bytes they are; starts count from the stretch's first byte.
    """

    offset: int
    line: int
    next_line: int
    continues: bool
    data: bytes
    more: bytes
    runs: tuple[Run, ...]

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.offset + len(self.data)

    @property
    def open(self) -> bool:
        """Whether the last line goes on behind the stretch, or has not ended."""
        return self.data[-1] != _NEWLINE

    def streams(self) -> set[Stream]:
        """Everyone who wrote some of it."""
        return {run.stream for run in self.runs}

    def behind(self, offset: int) -> Stretch:
        """What of it lies at an offset or behind."""
        cut = offset - self.offset
        runs = [run._replace(start=max(0, run.start - cut)) for run in self.runs]
        kept = [run for run, following in zip(runs, [*runs[1:], None], strict=True) if not following or following.start]
        return Stretch(
            offset,
            self.line + self.data.count(b"\n", 0, cut),
            self.next_line,
            self.data[cut - 1] != _NEWLINE,
            self.data[cut:],
            self.more,
            tuple(kept),
        )
