"""How fast a sandbox's output comes, and how long its reader may let it gather."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from services.output import Chunk

_FULL = (40 * 1024, 250)
"""Bytes, or lines, after which the engine waits for a reader that pauses: the kernel holds no more of a socket's."""

_GATHERED = (24 * 1024, 150)
"""Bytes, or lines, to let gather before they are read: few large reads cost less than many small ones."""

_BEHIND = 50_000_000
"""Nanoseconds from which on a reader is behind."""

_LONGEST_PAUSE = 0.1
_SECOND = 1_000_000_000


class Rate:
    """How many lines a second came last, by the clock of who wrote them."""

    def __init__(self) -> None:
        self._begun = 0
        self._lines = 0
        self._last_second = 0

    def note(self, chunks: Sequence[Chunk]) -> None:
        """Take in what came."""
        for chunk in chunks:
            if not 0 <= chunk.at - self._begun < _SECOND:
                self._begun, self._last_second, self._lines = chunk.at, self._lines, 0
            self._lines += chunk.data.count(b"\n")

    def lines_in(self, seconds: float) -> int:
        """How many lines as many seconds bring."""
        return int(max(self._lines, self._last_second) * seconds)


class Pace:
    """How long to let output gather, judged by how fast it came last; not at all for a reader that is behind.

    Args:
        rate: How fast it came over the last second; one small piece may be a hiccup of the engine's.
        now: The reader's clock, nanoseconds since 1970; the writer's may differ.

    Attributes:
        quiet: Whether so little comes that waiting for more of it costs more than reading it.
    """

    def __init__(self, rate: Rate, now: Callable[[], int] = time.time_ns) -> None:
        self._rate = rate
        self.quiet = False
        self._now = now
        self._read_at = now()
        self._waited = False
        self._difference = 0

    def waited(self) -> None:
        """There was nothing to read: what comes next comes at once, and tells how the clocks differ."""
        self._waited = True

    def pause_after(self, data: bytes, at: int) -> float:
        """Seconds to wait after something was read: none when more waits already, or when little comes anyway.

        Args:
            data: What was read.
            at: When the last of it was written, nanoseconds since 1970.
        """
        before, self._read_at = self._read_at, self._now()
        late = self._read_at - at
        if self._waited:
            self._waited, self._difference = False, late
        sizes = (len(data), data.count(b"\n"))
        if late - self._difference > _BEHIND or any(size >= full for size, full in zip(sizes, _FULL, strict=True)):
            self.quiet = False
            return 0.0
        gathered = max(size / enough for size, enough in zip(sizes, _GATHERED, strict=True))
        pause = (self._read_at - before) / _SECOND / gathered
        self.quiet = pause >= _LONGEST_PAUSE and self._rate.lines_in(_LONGEST_PAUSE) < _GATHERED[1]
        return 0.0 if self.quiet else min(pause, _LONGEST_PAUSE)
