"""Locks between processes, held by an open file and freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from services.errors import LockHeld, PinfoldError
from services.home.files import make_directory

_PAUSE = 0.02


class FileLock:
    """An exclusive lock on a file that exists only to be locked.

    Args:
        path: The lock's file, made when missing, with its directory.
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
        """Take the lock if it is free; never waits.

        Raises:
            PinfoldError: The lock's file cannot be opened.
        """
        if self._descriptor is not None:
            return True
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError as error:
            os.close(descriptor)
            raise self._unusable(error) from error
        self._descriptor = descriptor
        return True

    def acquire(self, timeout: float) -> None:
        """Wait for the lock; blocks, so call it in a thread.

        Args:
            timeout: The most seconds to wait.

        Raises:
            LockHeld: Another holder kept it all that time.
            PinfoldError: The lock's file cannot be opened.
        """
        deadline = time.monotonic() + timeout
        while not self.try_acquire():
            if time.monotonic() >= deadline:
                raise LockHeld(f"{self.what} is in use", why="another Pinfold holds its lock", fix="Try again shortly.")
            time.sleep(_PAUSE)

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o600)
        except FileNotFoundError:
            make_directory(self.path.parent)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            return os.open(self.path, flags, 0o600)
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> PinfoldError:
        return PinfoldError(f"cannot lock {self.what}", why=f"{self.path}: {error.strerror or error}")

    def __enter__(self) -> Self:
        self.acquire(0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
