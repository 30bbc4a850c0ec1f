"""A clock that a test moves on."""

from __future__ import annotations

import time


class Clock:
    """Tells the real time, plus what a test has put it ahead by."""

    def __init__(self) -> None:
        self._ahead = 0

    def __call__(self) -> int:
        return time.time_ns() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += int(seconds * 1e9)
