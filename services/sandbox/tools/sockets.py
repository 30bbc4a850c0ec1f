"""Where the tool server of a home listens, and whether it does."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from services.errors import PinfoldError
from services.home import FileLock, Home, make_directory
from services.sandbox.egress import HTTP_SOCKET

LINES_SOCKET = "stdio.sock"

_BACKLOG = 128
_OPEN_TO_ALL = 0o666


def tools_dir(home: Home) -> Path:
    """The directory of the sockets, which sandboxes see; nothing else is in it."""
    return home.state_dir / "tools"


def serving_lock(home: Home) -> FileLock:
    """The lock of the one process that serves."""
    return FileLock(home.locks_dir / "tools.lock", "the tool server")


def make_tools_dir(home: Home) -> Path:
    """Make the directory, open to whatever user a sandbox runs as; the directories above keep others out."""
    directory = tools_dir(home)
    make_directory(directory)
    directory.chmod(0o755)
    return directory


def listen(directory: Path, name: str) -> socket.socket:
    """Listen on a socket in a directory, whose path may be longer than a socket's can.

    Whoever holds the lock may do so: what is there is of a process that died.

    Raises:
        PinfoldError: The directory cannot be used.
    """
    listening = socket.socket(socket.AF_UNIX)
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            (directory / name).unlink(missing_ok=True)
            listening.bind(f"/proc/self/fd/{descriptor}/{name}")
            (directory / name).chmod(_OPEN_TO_ALL)
        finally:
            os.close(descriptor)
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise PinfoldError(f"cannot listen at {directory / name}", why=error.strerror or str(error)) from error
    return listening


def answers(home: Home) -> bool:
    """Whether somebody listens; blocks for moments."""
    try:
        descriptor = os.open(tools_dir(home), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for name in (HTTP_SOCKET, LINES_SOCKET):
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(1.0)
                probe.connect(f"/proc/self/fd/{descriptor}/{name}")
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
