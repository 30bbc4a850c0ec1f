"""The variables by which the processes of a sandbox are known when no record names them."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from services.sandbox.engines.local.supervisor import Process, identify, is_alive, send

SANDBOX = "PINFOLD_SANDBOX"
"""Set in every process of a sandbox."""

SUPERVISED = "PINFOLD_SUPERVISED"
"""Set in its supervisor."""

_END_SECONDS = 5.0


def mark(home_id: str, sandbox: str) -> str:
    """The value of both: no other sandbox, of whatever home, has the same."""
    return f"{home_id}/{sandbox}"


def marked(variable: str, value: str) -> list[Process]:
    """Look through all processes for those that were given a variable with this value."""
    wanted = f"{variable}={value}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        process = identify(int(entry.name))
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if process and wanted in (entry / "environ").read_bytes().split(b"\0") and is_alive(process):
                found.append(process)
    return found


def end_sandbox_processes(value: str, known: Iterable[Process] = ()) -> bool:
    """Kill every process of a sandbox and wait until they are gone; False when one is still there after seconds.

    Args:
        value: What `mark` gives.
        known: Its processes that a record names.
    """
    deadline = time.monotonic() + _END_SECONDS
    while left := {*filter(is_alive, known), *marked(SANDBOX, value)}:
        if time.monotonic() > deadline:
            return False
        for process in left:
            send(process, signal.SIGKILL)
        time.sleep(0.01)
    return True
