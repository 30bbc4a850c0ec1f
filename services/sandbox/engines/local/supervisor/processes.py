"""Processes: which one is which, who descends from whom, what they use, and signals that cannot hit a stranger."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_SET_CHILD_SUBREAPER = 36
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Process:
    """One process, told apart from any that gets the same number later.

    Attributes:
        pid: Its number.
        started: Clock ticks from the start of the machine to its own.
        boot: Which start of the machine.
    """

    pid: int
    started: int
    boot: str


@dataclass(frozen=True, slots=True)
class Consumption:
    """What a process's descendants use together at one moment.

    Attributes:
        cpu_seconds: Processor time since the start, of those that ended too.
        memory: Bytes that belong to them alone: neither file pages nor shared memory.
        pids: Processes and threads.
    """

    cpu_seconds: float
    memory: int
    pids: int


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    parent: int
    ticks: int
    ticks_of_ended_children: int
    threads: int
    started: int


@cache
def boot_id() -> str:
    """The kernel's id of this start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def identify(pid: int) -> Process | None:
    """Tell which process has this number now; None when there is none."""
    stat = _stat(pid)
    return None if stat is None else Process(pid, stat.started, boot_id())


def is_alive(process: Process) -> bool:
    """Whether this very process runs; one that ended and waits to be reaped does not."""
    if process.boot != boot_id():
        return False
    stat = _stat(process.pid)
    return stat is not None and stat.started == process.started and stat.state not in "ZX"


def open_process(process: Process) -> int | None:
    """Open a descriptor of this very process; None when it is gone.

    The descriptor pins the process, so that the number cannot pass to another between the look and the signal.
    """
    if process.pid <= 0:
        return None
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if is_alive(process):
        return descriptor
    os.close(descriptor)
    return None


def send(process: Process, number: int) -> bool:
    """Send a signal to this very process; False when it is gone."""
    descriptor = open_process(process)
    if descriptor is None:
        return False
    try:
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def kill_descendants() -> bool:
    """Kill every descendant of this process; False when there was none.

    A number may have passed to a stranger since it was listed, but a stranger's parent is not of this family.
    """
    pids = descendants(os.getpid())
    family = {os.getpid(), *pids}
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        stat = _stat(pid)
        if stat is not None and stat.parent in family:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)
    return bool(pids)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, so that no daemon escapes."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


def descendants(pid: int) -> list[int]:
    """The children of a process, their children, and so on, nearest first."""
    found: list[int] = []
    waiting = list(_children(pid))
    while waiting:
        found += waiting
        waiting = [child for parent in waiting for child in _children(parent)]
    return found


def consumption(pid: int) -> Consumption:
    """Sum up what the descendants of a process use; those that come and go meanwhile may be missed."""
    root = _stat(pid)
    ticks = root.ticks_of_ended_children if root else 0
    memory = pids = 0
    for each in descendants(pid):
        stat = _stat(each)
        if stat is None or stat.state in "ZX":
            continue
        ticks += stat.ticks + stat.ticks_of_ended_children
        pids += stat.threads
        memory += _own_memory(each)
    return Consumption(ticks / _TICKS, memory, pids)


def exact_memory(pid: int) -> int:
    """Bytes the descendants use, pages they share counted once; costs a walk over every page they have."""
    return sum(_proportional_memory(each) for each in descendants(pid))


def _read(path: str) -> bytes:
    """Read a small file of /proc; b"" once its process is gone or is no business of ours."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _stat(pid: int) -> _Stat | None:
    data = _read(f"/proc/{pid}/stat")
    end_of_name = data.rfind(b")")  # the name may hold anything, brackets and spaces too
    if end_of_name < 0:
        return None
    fields = data[end_of_name + 2 :].split()
    return _Stat(
        state=fields[0].decode(),
        parent=int(fields[1]),
        ticks=int(fields[11]) + int(fields[12]),
        ticks_of_ended_children=int(fields[13]) + int(fields[14]),
        threads=int(fields[17]),
        started=int(fields[19]),
    )


def _children(pid: int) -> Iterator[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names only, hundreds of times a second
    except OSError:
        return
    for thread in threads:
        yield from map(int, _read(f"/proc/{pid}/task/{thread}/children").split())


def _own_memory(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return (int(fields[1]) - int(fields[2])) * _PAGE if len(fields) > 2 else 0


def _proportional_memory(pid: int) -> int:
    kilobytes = 0
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")):
            kilobytes += int(line.split()[1])
    return kilobytes * 1024
