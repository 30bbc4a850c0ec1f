"""How many actions an agent may take in an hour, shared with everyone it spawns."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from services.errors import SessionRefused

WINDOW = 3600.0
"""Seconds; the window slides."""


class Budget:
    """Slots for actions in a sliding hour: reserved first, kept when the action succeeded, else given back.

    Args:
        limit: Actions an hour; 0 blocks all.
        now: A clock that never goes back, seconds.
        parent: Whoever spawned this agent; each action needs a slot there as well.
    """

    def __init__(self, limit: int, now: Callable[[], float] = time.monotonic, parent: Budget | None = None) -> None:
        self.limit = limit
        self._now = now
        self._parent = parent
        self._taken: deque[float] = deque()
        self._reserved = 0

    @property
    def left(self) -> int:
        """Slots free at this moment, here and with every parent."""
        self._forget()
        own = max(0, self.limit - len(self._taken) - self._reserved)
        return own if self._parent is None else min(own, self._parent.left)

    @contextmanager
    def action(self) -> Iterator[None]:
        """Reserve a slot for the length of a `with` block; an error in the block gives it back.

        Raises:
            SessionRefused: No slot is free.
        """
        if self.left == 0:
            raise SessionRefused(
                "the action is refused",
                why=f"{self._tightest().limit} actions in the last hour are all its budget allows",
                fix="Wait, or raise max_actions_per_hour.",
            )
        chain = list(self._chain())
        for budget in chain:
            budget._reserved += 1
        try:
            yield
        except BaseException:
            for budget in chain:
                budget._reserved -= 1
            raise
        at = self._now()
        for budget in chain:
            budget._reserved -= 1
            budget._taken.append(at)

    def child(self, limit: int) -> Budget:
        """A budget for a spawned agent that also draws on this one."""
        return Budget(limit, self._now, self)

    def _chain(self) -> Iterator[Budget]:
        budget: Budget | None = self
        while budget is not None:
            yield budget
            budget = budget._parent

    def _tightest(self) -> Budget:
        return min(self._chain(), key=lambda budget: budget.limit - len(budget._taken) - budget._reserved)

    def _forget(self) -> None:
        oldest = self._now() - WINDOW
        while self._taken and self._taken[0] <= oldest:
            self._taken.popleft()
