"""Refusals counted, so that an agent that tries a thousand times a second fills no log."""

from __future__ import annotations

from collections.abc import Callable

from services.sandbox.egress.refusal import Refusal

WINDOW = 60.0
"""Seconds for which refusals are counted together."""

_AT_ONCE = 10
_COUNTED = 20


class Tally:
    """Tells of the first refusal of a target at once, and of those that follow once a minute, as a number.

    In one minute it tells of at most ten targets at once, of twenty by their number, and of the rest as one.

    Args:
        tell: Gets each refusal to be told of.
        now: A clock in seconds that never goes back.
    """

    def __init__(self, tell: Callable[[Refusal], None], now: Callable[[], float]) -> None:
        self._tell = tell
        self._now = now
        self._until = now() + WINDOW
        self._told = 0
        self._counts: dict[tuple[str, str], int] = {}
        self._further = 0

    def add(self, target: str, reason: str) -> None:
        """Count one refusal."""
        self.tick()
        key = (target, reason)
        if key in self._counts:
            self._counts[key] += 1
        elif self._told < _AT_ONCE:
            self._told += 1
            self._counts[key] = 0
            self._tell(Refusal(target, reason))
        elif len(self._counts) < _AT_ONCE + _COUNTED:
            self._counts[key] = 1
        else:
            self._further += 1

    def tick(self) -> None:
        """Tell what was counted once its minute is over."""
        if self._now() >= self._until:
            self.flush()

    def flush(self) -> None:
        """Tell what was counted, and count anew."""
        for (target, reason), times in self._counts.items():
            if times:
                self._tell(Refusal(target, reason, times))
        if self._further:
            self._tell(Refusal("", "further targets were refused", self._further))
        self._counts, self._further, self._told = {}, 0, 0
        self._until = self._now() + WINDOW
