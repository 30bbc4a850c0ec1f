"""End what still runs of a sandbox and remove its files."""

from __future__ import annotations

import signal
import time

from services.errors import EngineError
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.marks import SUPERVISED, end_sandbox_processes, marked
from services.sandbox.engines.local.settling import own_processes
from services.sandbox.engines.local.supervisor import Process, Record, is_alive, send

_END_SECONDS = 5.0


def kill_main_process(record: Record) -> None:
    """Kill the main process; its supervisor, or the confinement around it, takes all others of the sandbox along."""
    for process in own_processes(record):
        send(process, signal.SIGKILL)


def remove_sandbox(folder: SandboxFolder, mark: str, record: Record | None) -> None:
    """End a sandbox at once and remove everything of it but its output.

    Args:
        folder: Its files.
        mark: What its processes carry.
        record: None when there is none that can be read; its processes are then found by their mark.

    Raises:
        EngineError: Something of it cannot be ended or removed.
    """
    if record is None:
        end_sandbox_processes(mark)
        supervisors = marked(SUPERVISED, mark)
    else:
        if record.status == "running":
            kill_main_process(record)
        supervisors = [record.supervisor]
    for supervisor in supervisors:
        if not (_gone_soon(supervisor) or (send(supervisor, signal.SIGKILL) and _gone_soon(supervisor))):
            raise _stays(folder, f"its supervisor, process {supervisor.pid}, waits for a disk that does not answer")
    if not end_sandbox_processes(mark):
        raise _stays(folder, "a process of it waits for a disk that does not answer")
    folder.remove()


def _stays(folder: SandboxFolder, why: str) -> EngineError:
    return EngineError(f"sandbox {folder.directory.name} does not end", why=why, fix="Try again.")


def _gone_soon(process: Process) -> bool:
    deadline = time.monotonic() + _END_SECONDS
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
