"""Watch what a sandbox uses and say when it uses more than it may."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .processes import consumption, exact_memory

_FILL_RATE = 2 * 1024**3
_SHORTEST = 0.05
_LONGEST = 1.0


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit that was passed.

    Attributes:
        out_of_memory: It was the one on memory.
        reason: For people.
    """

    out_of_memory: bool
    reason: str


class LimitWatch:
    """Looks at a sandbox once a second, and more often the nearer it is to its limit of memory.

    The kernel would need a control group to hold the limit itself, which an ordinary user seldom may make.

    Args:
        root: The process whose descendants are the sandbox.
        memory: Bytes; None is unlimited.
        pids: Processes and threads; None is unlimited.
    """

    def __init__(self, root: int, *, memory: int | None, pids: int | None) -> None:
        self._root = root
        self._memory = memory
        self._pids = pids
        self._next = 0.0

    def seconds_to_look(self) -> float | None:
        """How long until the next look; None when there is nothing to watch."""
        if self._memory is None and self._pids is None:
            return None
        return max(0.0, self._next - time.monotonic())

    def look(self) -> Excess | None:
        """Look, if it is time; None while all is within the limits."""
        wait = self.seconds_to_look()
        if wait is None or wait > 0:
            return None
        used = consumption(self._root)
        self._next = time.monotonic() + self._pause(used.memory)
        if self._pids is not None and used.pids > self._pids:
            return Excess(False, f"it had {used.pids} processes and threads, {self._pids} are allowed")
        if self._memory is not None and used.memory > self._memory:
            exact = exact_memory(self._root)
            if exact > self._memory:
                return Excess(True, f"it used {exact // 2**20} MiB of memory, {self._memory // 2**20} MiB are allowed")
        return None

    def _pause(self, memory: int) -> float:
        """Seconds in which even a program that does nothing else can hardly fill what is left."""
        if self._memory is None:
            return _LONGEST
        return min(_LONGEST, max(_SHORTEST, (self._memory - memory) / _FILL_RATE))
