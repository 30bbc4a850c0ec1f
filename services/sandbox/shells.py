"""Open shells, counted over all Pinfolds on a home."""

from __future__ import annotations

import secrets

from services.home import FileLock
from services.sandbox.engines.engine import Shell
from services.sandbox.session_files import SessionFiles


class CountedShell:
    """A shell that keeps its sandbox busy while it is open: it holds a locked file, which a dead Pinfold lets go."""

    def __init__(self, shell: Shell, lock: FileLock) -> None:
        self._shell = shell
        self._lock = lock

    async def read(self) -> bytes:
        """Wait for output; b"" once the shell has ended."""
        return await self._shell.read()

    async def write(self, data: bytes) -> None:
        """Send what was typed."""
        await self._shell.write(data)

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the shell how large the terminal is now."""
        await self._shell.resize(columns, rows)

    async def wait(self) -> int:
        """Wait for the end and return the exit status."""
        return await self._shell.wait()

    async def close(self) -> None:
        """Hang up; ends the shell's own process only."""
        try:
            await self._shell.close()
        finally:
            self._lock.release()
            self._lock.path.unlink(missing_ok=True)


def shell_lock(files: SessionFiles) -> FileLock:
    """Make and take the lock of one more shell."""
    while True:
        lock = FileLock(files.shells / secrets.token_hex(4), "an open shell")
        if lock.try_acquire():
            return lock


def shell_is_open(files: SessionFiles) -> bool:
    """Whether any Pinfold has a shell open in a session's sandbox."""
    try:
        paths = list(files.shells.iterdir())
    except FileNotFoundError:
        return False
    for path in paths:
        lock = FileLock(path, "an open shell")
        if not lock.try_acquire():
            return True
        lock.release()
    return False
