"""How fast a sandbox's output comes, and how long its reader may let it gather."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from services.output import Chunk

_FULL = (40 * 1024, 250)
"""Bytes, or lines, after which the engine waits for a reader that pauses: the kernel holds no more of a socket's."""

_GATHERED = (24 * 1024, 150)
"""Bytes, or lines, to let gather before they are read: few large reads cost less than many small ones."""

_LONGEST_PAUSE = 0.1
_SECOND = 1_000_000_000


class Pace:
    """How long to let output gather, judged by how fast it came last.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read_at = clock()

    def pause_after(self, data: bytes) -> float:
        """Seconds to wait after something was read: none when more waits already."""
        before, self._read_at = self._read_at, self._clock()
        sizes = (len(data), data.count(b"\n"))
        if any(size >= full for size, full in zip(sizes, _FULL, strict=True)):
            return 0.0
        gathered = max(size / enough for size, enough in zip(sizes, _GATHERED, strict=True))
        return min((self._read_at - before) / gathered, _LONGEST_PAUSE)


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
