"""Put right what a supervisor that was killed could not: its sandbox is ended, recorded, and its output completed.

The kernel kills the main process together with its supervisor; what that had started may run on, unobserved. It is
known by the variable every process of a sandbox inherits, and killed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from services.errors import LockHeld, SpoolError
from services.output import SpoolWriter
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.supervisor import Process, Record, identify, is_alive, send, write_record
from services.sandbox.model import SandboxSpec

MARK = "PINFOLD_SANDBOX"
"""The variable that names a process's sandbox."""

_KILLED = 128 + signal.SIGKILL
_END_SECONDS = 5.0


def mark(spec: SandboxSpec) -> str:
    """The value of `MARK` inside a sandbox: no other sandbox, of whatever home, has the same."""
    return f"{spec.home}/{spec.session}"


def settled(folder: SandboxFolder, spec: SandboxSpec, record: Record) -> Record:
    """Return the record as it is, or as it must be since its supervisor is dead.

    Raises:
        EngineError: The record on disk is damaged.
    """
    if record.status != "running" or is_alive(record.supervisor):
        return record
    try:
        with folder.lock():
            fresh = folder.record()  # the supervisor may have written its last word before it went
            if fresh is None or fresh.status != "running" or is_alive(fresh.supervisor):
                return fresh or record
            return _settle(folder, spec, fresh)
    except LockHeld:
        return record  # somebody else is at it, or a supervisor runs where we cannot see it


def end_survivors(spec: SandboxSpec, record: Record) -> None:
    """Kill the processes of a sandbox that no supervisor looks after, and wait until they are gone."""
    known = [process for process in (record.main, record.root) if process and process != record.supervisor]
    deadline = time.monotonic() + _END_SECONDS
    while time.monotonic() < deadline:
        left = [process for process in known if is_alive(process)] + _marked(spec)
        if not left:
            return
        for process in left:
            send(process, signal.SIGKILL)
        time.sleep(0.01)


def _settle(folder: SandboxFolder, spec: SandboxSpec, record: Record) -> Record:
    same_boot = record.supervisor.boot == _this_boot()
    reason = _reason(folder, same_boot=same_boot)
    try:
        with contextlib.closing(_spool(folder, spec)) as spool:
            if same_boot:
                end_survivors(spec, record)
            spool.note(f"ended: {reason}")
            spool.finish()
    except SpoolError as error:
        reason = f"{reason}; {error}"
    ended = replace(record, status="exited", exit_code=_KILLED, error=reason, ended_at=time.time_ns())
    write_record(folder.directory, ended)
    return ended


def _spool(folder: SandboxFolder, spec: SandboxSpec) -> SpoolWriter:
    """Open the spool; whoever can is sure that no supervisor lives, not even where its number cannot be seen."""
    return SpoolWriter.open(folder.output, limit=spec.output_limit, keep_unindexed=True)


def _reason(folder: SandboxFolder, *, same_boot: bool) -> str:
    if not same_boot:
        return "the machine was started again"
    words = folder.last_words()
    return f"its supervisor failed: {words}" if words else "its supervisor was killed, and it with it"


def _this_boot() -> str:
    itself = identify(os.getpid())
    return itself.boot if itself else ""


def _marked(spec: SandboxSpec) -> list[Process]:
    wanted = f"{MARK}={mark(spec)}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        process = identify(int(entry.name))
        with contextlib.suppress(OSError):  # it ended, or is another user's
            if process and wanted in (entry / "environ").read_bytes().split(b"\0") and is_alive(process):
                found.append(process)
    return found
