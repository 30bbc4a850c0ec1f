"""Locks between processes, held by an open file and freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from services.errors import LockHeld


class FileLock:
    """An exclusive lock on a file that exists only to be locked.

    Args:
        path: The lock's file, made when missing; its directory must exist.
        what: What it guards, for the message of `LockHeld`.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self._descriptor: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._descriptor is not None

    def try_acquire(self) -> bool:
        """Take the lock if it is free; never waits."""
        if self._descriptor is not None:
            return True
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        if not self.try_acquire():
            raise LockHeld(f"{self.what} is in use", why="another Pinfold holds its lock", fix="Try again shortly.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
