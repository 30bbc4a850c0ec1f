"""Work in forked processes, of which each has an event loop of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable, Callable

_PATIENCE = 60.0
_FAULT = 3


def fork(work: Callable[[], Awaitable[None]]) -> int:
    """Do something in a process of its own, and return its number."""
    pid = os.fork()
    if pid:
        return pid
    status = _FAULT
    try:
        asyncio.run(work())  # type: ignore[arg-type]
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def forked(work: Callable[[], Awaitable[None]], *, raising: bool = True) -> int:
    """Do something in a process of its own, and return its status."""
    _, status = os.waitpid(fork(work), 0)
    if raising and status:
        raise RuntimeError("a process failed; its traceback is above")
    return status


def wait(pid: int, seconds: float) -> bool:
    """Wait for a process to die, and kill it after some seconds; return whether it was killed."""
    deadline = time.monotonic() + (seconds or _PATIENCE)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.WIFSIGNALED(status)
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return True
        time.sleep(0.0005)
