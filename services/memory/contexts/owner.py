"""Which process works in a context, and whether it still lives."""

from __future__ import annotations

from pathlib import Path

from services.home import FileLock

_WHAT = "the contexts of a Pinfold"


class Owner:
    """This process, known to the others by a lock that the kernel frees when it dies. All methods block.

    Args:
        directory: Where the locks of all owners lie.
        id: Never given to any owner before.
    """

    def __init__(self, directory: Path, id: str) -> None:
        self.id = id
        self._directory = directory
        self._lock = FileLock(self._file(id), _WHAT)

    def appear(self) -> None:
        """Be alive for the others from now on.

        Raises:
            PinfoldError: The lock cannot be made.
        """
        if not self._lock.held:
            self._lock.acquire(0)

    def leave(self) -> None:
        """Be gone for the others."""
        if self._lock.held:
            self._lock.path.unlink(missing_ok=True)
            self._lock.release()

    def is_gone(self, other: str) -> bool:
        """Tell whether another owner has ended, however it did."""
        if other == self.id:
            return False
        lock = FileLock(self._file(other), _WHAT)
        if not lock.try_acquire():
            return False
        try:
            lock.path.unlink(missing_ok=True)
        finally:
            lock.release()
        return True

    def _file(self, id: str) -> Path:
        return self._directory / f"{id}.lock"
