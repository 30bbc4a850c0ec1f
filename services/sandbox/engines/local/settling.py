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

from services.errors import EngineError, LockHeld, SpoolError
from services.output import SpoolWriter
from services.sandbox.engines.local.folder import SandboxFolder
from services.sandbox.engines.local.marks import end_sandbox_processes, mark
from services.sandbox.engines.local.supervisor import Process, Record, identify, is_alive, write_record
from services.sandbox.model import SandboxSpec

_KILLED = 128 + signal.SIGKILL


def settled(folder: SandboxFolder, spec: SandboxSpec, record: Record) -> Record:
    """Return the record as it is, or as it must be since its supervisor is dead.

    Raises:
        EngineError: The record on disk is damaged, or cannot be written.
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


def own_processes(record: Record) -> list[Process]:
    """The processes of the sandbox itself that a record names."""
    return [process for process in (record.main, record.root) if process and process != record.supervisor]


def _settle(folder: SandboxFolder, spec: SandboxSpec, record: Record) -> Record:
    same_boot = record.supervisor.boot == _this_boot()
    reason = _reason(folder, same_boot=same_boot)
    try:
        _complete_output(folder, spec, f"ended: {reason}")
    except SpoolError as error:
        reason = f"{reason}; {error}"
    if same_boot:
        end_sandbox_processes(mark(spec.home, spec.session), own_processes(record))
    ended = replace(record, status="exited", exit_code=_KILLED, error=reason, ended_at=time.time_ns())
    try:
        write_record(folder.directory, ended)
    except OSError as error:
        raise EngineError(f"cannot write {folder.record_file}", why=error.strerror or str(error)) from error
    return ended


def _complete_output(folder: SandboxFolder, spec: SandboxSpec, note: str) -> None:
    """Mark the output complete; whoever can is sure that no supervisor lives, not even where it cannot be seen."""
    with contextlib.closing(SpoolWriter.open(folder.output, limit=spec.output_limit, keep_unindexed=True)) as spool:
        spool.note(note)
        spool.finish()


def _reason(folder: SandboxFolder, *, same_boot: bool) -> str:
    if not same_boot:
        return "the machine was started again"
    words = folder.last_words()
    return f"its supervisor failed: {words}" if words else "its supervisor was killed, and it with it"


def _this_boot() -> str:
    itself = identify(os.getpid())
    return itself.boot if itself else ""
