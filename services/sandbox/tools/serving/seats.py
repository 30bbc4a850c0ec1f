"""How much may go on at once: of one session, so that none keeps the others out, and of all together."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

PAUSE = 0.05
"""Seconds between two answers to wrong tokens."""

_MOST_WAITING = 64


class Full(StrEnum):
    """Why there is no seat; the value is for whoever asked for one."""

    SESSION = "this session has too many at once"
    ALL = "all sessions together have too many at once"


class Seats:
    """Places that are taken and given back.

    Args:
        each: The most that one session has.
        together: With so many taken by all, a session gets no more.
        always: Unless it has fewer than these, so that no crowd of others keeps it out.
    """

    def __init__(self, each: int, together: int, always: int) -> None:
        self._each = each
        self._together = together
        self._always = always
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, session: str) -> Iterator[Full | None]:
        """Take a seat for the length of a block; gives why there is none, and then none is taken."""
        full = self._full(session)
        if full is not None:
            yield full
            return
        self._taken[session] += 1
        try:
            yield None
        finally:
            self._taken[session] -= 1
            if not self._taken[session]:
                del self._taken[session]

    def _full(self, session: str) -> Full | None:
        if self._taken[session] >= self._each:
            return Full.SESSION
        if self._taken[session] < self._always or self._taken.total() < self._together:
            return None
        return Full.ALL


class Pace:
    """Lets twenty wrong tokens a second be answered, whoever sends them; good ones never wait for it."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def wait(self) -> bool:
        """Wait for a turn; False at once when so many wait that nobody is to be answered."""
        if self._waiting >= _MOST_WAITING:
            return False
        self._waiting += 1
        try:
            async with self._turn:
                await asyncio.sleep(PAUSE)
        finally:
            self._waiting -= 1
        return True


class Limits:
    """The limits of one server, over both ways in.

    Attributes:
        calls: Calls that are being answered, those that wait for an operator among them.
        connections: Connections that speak lines.
        wrong: The pace of answers to wrong tokens.
    """

    def __init__(self) -> None:
        self.calls = Seats(each=32, together=256, always=4)
        self.connections = Seats(each=16, together=256, always=2)
        self.wrong = Pace()
