"""End what still runs of a sandbox and remove its files."""

from __future__ import annotations

import signal
import time

from services.errors import EngineError
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.settling import end_survivors
from services.sandbox.engines.local.supervisor import Process, Record, is_alive, send
from services.sandbox.model import SandboxSpec

_END_SECONDS = 5.0


def kill_main_process(record: Record) -> None:
    """Kill the main process; its supervisor, or the confinement around it, takes all others of the sandbox along."""
    for process in (record.main, record.root):
        if process is not None and process != record.supervisor:
            send(process, signal.SIGKILL)


def remove_sandbox(folder: SandboxFolder, spec: SandboxSpec, record: Record | None) -> None:
    """End a sandbox at once and remove everything of it but its output.

    Raises:
        EngineError: Something of it cannot be ended or removed.
    """
    if record is not None:
        if record.status == "running":
            kill_main_process(record)
        if not _gone_soon(record.supervisor):
            send(record.supervisor, signal.SIGKILL)
            if not _gone_soon(record.supervisor):
                raise EngineError(
                    f"the supervisor of sandbox {spec.session} does not end",
                    why=f"process {record.supervisor.pid} waits for a disk that does not answer",
                )
        if record.status == "running":
            end_survivors(spec, record)
    folder.remove()


def _gone_soon(process: Process) -> bool:
    deadline = time.monotonic() + _END_SECONDS
    while is_alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
