"""What lies in a session's directory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from services.home import FileLock, Home

_PAUSE = 0.02


@dataclass(frozen=True)
class SessionFiles:
    """The files of one session under `state/sessions/<id>/`."""

    directory: Path

    @classmethod
    def of(cls, home: Home, session: str) -> SessionFiles:
        """Name the files of a session; makes nothing."""
        return cls(home.session_dir(session))

    @property
    def output(self) -> Path:
        """The spool."""
        return self.directory / "output"

    @property
    def shared(self) -> Path:
        """What the sandbox sees, read-only, as `/run/pinfold`."""
        return self.directory / "shared"

    @property
    def shells(self) -> Path:
        """One locked file for each open shell."""
        return self.directory / "shells"

    def hands(self) -> FileLock:
        """The lock of whoever starts, stops or removes the sandbox; free when that process has died."""
        return FileLock(self.directory / "hands.lock", f"the sandbox of session {self.directory.name}")


async def take(lock: FileLock, within: float) -> bool:
    """Take a lock that is about to be given back; False when it is still held after `within` seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not lock.try_acquire():
        if loop.time() >= deadline:
            return False
        await asyncio.sleep(_PAUSE)
    return True
