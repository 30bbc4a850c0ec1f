"""The gate of an agent's memory: open to all who change it, closed while the last of it is moved."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from services.errors import LockHeld, PinfoldError
from services.home import Home, make_directory

_PAUSE = 0.02


class Gate:
    """Lets changes through, from any process, unless somebody has closed it.

    Args:
        home: Where the gate lies.
        alias: The agent.
    """

    def __init__(self, home: Home, alias: str) -> None:
        self._alias = alias
        self._path = home.locks_dir / f"memory-gate-{alias}.lock"

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Be inside while something is changed.

        Raises:
            LockHeld: The gate is closed.
        """
        with _opened(self._path) as descriptor:
            if not _taken(descriptor, fcntl.LOCK_SH):
                raise LockHeld(
                    f"the memory of {self._alias} is being moved", why="its last rows are on the way", fix="Try again."
                )
            yield

    @asynccontextmanager
    async def closed(self, patience: float) -> AsyncIterator[None]:
        """Keep everybody out; waits for those inside.

        Args:
            patience: The most seconds to wait.

        Raises:
            LockHeld: Somebody stayed inside all that time.
        """
        with _opened(self._path) as descriptor:
            try:
                async with asyncio.timeout(patience):
                    while not _taken(descriptor, fcntl.LOCK_EX):  # noqa: ASYNC110 - another process tells nobody
                        await asyncio.sleep(_PAUSE)
            except TimeoutError as error:
                raise LockHeld(f"the memory of {self._alias} is in use", fix="Try again.") from error
            yield


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        make_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise PinfoldError(f"cannot lock {path}", why=error.strerror or str(error)) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
