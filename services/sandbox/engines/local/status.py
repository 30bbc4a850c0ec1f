"""What the local engine says of itself."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from services.sandbox.engines.engine import EngineStatus
from services.sandbox.engines.local.bubblewrap import Bubblewrap

_LIMITS = (
    "memory and processes are watched, not held by the kernel: a sandbox over its limit is ended within a second",
    "a limit on processors is rounded up to whole ones",
)
_CONFINED = (
    "a confined sandbox with network = open reaches this machine's own services and abstract sockets",
    "network = allowlist is refused: this engine gives all of this machine's network or none",
)
_UNCONFINED = (
    "agents run with all your rights, and only those whose profile says allow_unconfined = true",
    "mounts, network = none and network = allowlist are not enforced",
)


def status_of(bubblewrap: Bubblewrap) -> EngineStatus:
    """Say whether sandboxes can run on this machine, and what they are kept from."""
    problem = _problem()
    confined = bool(bubblewrap.path)
    notes = (*_CONFINED, *_LIMITS) if confined else (f"unconfined: {bubblewrap.problem}", *_UNCONFINED, *_LIMITS)
    return EngineStatus(
        "local",
        usable=not problem,
        problem=problem,
        fix="Use a Linux of 2019 or later, or another engine." if problem else "",
        version=bubblewrap.version if confined else f"{platform.system()} {platform.release()}",
        address="this machine",
        identity=_machine(),
        notes=notes,
        confined=confined,
    )


def _problem() -> str:
    if not Path("/proc/self/task").is_dir():
        return "this system has no /proc"
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        return "this kernel does not show the children of a process"
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return "this kernel cannot hold on to a process"
    return ""


def _machine() -> str:
    for file in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            identity = Path(file).read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            continue
        if identity:
            return identity
    return platform.node()
