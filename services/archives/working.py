"""Work that takes long: done in a thread, telling how far it is, given up when nobody listens any more."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import TypeVar

from services.archives.model import Done, Progress, Work
from services.errors import ArchiveError

T = TypeVar("T")

_TELL_SECONDS = 0.04
_GIVE_UP_SECONDS = 5.0


class GivenUp(Exception):
    """Nobody waits for this work any more."""


class Gauge:
    """How far some work is; written by the thread that does it, read by whoever waits."""

    def __init__(self) -> None:
        self.doing = ""
        self.items = 0
        self.size = 0
        self.total_items = 0
        self.total_size = 0
        self._given_up = False

    def begin(self, doing: str, *, total_items: int = 0, total_size: int = 0) -> None:
        """Start to count anew."""
        self.doing, self.items, self.size = doing, 0, 0
        self.total_items, self.total_size = total_items, total_size

    def advance(self, items: int = 0, size: int = 0) -> None:
        """Count what was done.

        Raises:
            GivenUp: Nobody waits any more.
        """
        self.items += items
        self.size += size
        if self._given_up:
            raise GivenUp

    def give_up(self) -> None:
        """Let the work end at the next count."""
        self._given_up = True

    def progress(self) -> Progress:
        """How far it is now."""
        return Progress(self.doing, self.items, self.size, self.total_items, self.total_size)


async def told(what: str, work: Callable[[Gauge], Awaitable[T]]) -> Work[T]:
    """Do some work, and tell how far it is 25 times a second and at the end.

    Closing this early returns once the work has ended, so that no thread goes on writing behind its caller's back.

    Args:
        what: The work as a clause that begins with "cannot", for the error.
        work: Counts with the gauge it is given.

    Raises:
        ArchiveError: The disk refused something.
    """
    gauge = Gauge()
    task = asyncio.ensure_future(work(gauge))
    try:
        while not (await asyncio.wait({task}, timeout=_TELL_SECONDS))[0]:
            yield gauge.progress()
        try:
            result = task.result()
        except OSError as error:
            raise explained(error, what) from error
    finally:
        if not task.done():
            await _ended(task, gauge)
    yield gauge.progress()
    yield Done(result)


async def _ended(task: asyncio.Future[T], gauge: Gauge) -> None:
    gauge.give_up()
    await asyncio.wait({task}, timeout=_GIVE_UP_SECONDS)
    task.cancel()
    await asyncio.wait({task}, timeout=_GIVE_UP_SECONDS)
    if task.done() and not task.cancelled():
        task.exception()  # nobody waits for it


_FIXES = {
    errno.ENOSPC: "Free some space and try again.",
    errno.EDQUOT: "Free some space and try again.",
    errno.EROFS: "Make the file system of archives/ writable.",
    errno.EACCES: "Look at the rights of archives/ and of the file.",
}


def explained(error: OSError, what: str) -> ArchiveError:
    """Say what an error of the disk means for some work.

    Args:
        error: What the kernel said.
        what: The work as a clause that begins with "cannot".
    """
    why = error.strerror or str(error)
    name = error.filename if isinstance(error.filename, str) else ""
    return ArchiveError(what, why=f"{name}: {why}" if name else why, fix=_FIXES.get(error.errno or 0, ""))
