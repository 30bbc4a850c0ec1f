"""Whether bubblewrap is here and works, and the options that confine a sandbox with it.

| inside | is |
| --- | --- |
| /usr, /bin, /sbin, /lib*, some of /etc | this machine's, read-only |
| /tmp and /home/agent | the session's own, kept until the sandbox is removed, seen by its further commands too |
| /proc, /dev | private; nothing of the rest of the machine |
| the mounts of the spec | as they say, at their targets |
| the masks of the spec | empty, over what lies inside a mount |
| the workspace | where a mount shows it, else at its own path, writable |
| the network | this machine's, or none at all |
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.sandbox.model import SandboxSpec

HOME = "/home/agent"

_PROBE_SECONDS = 10.0
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_CONFIGURATION = (
    "alternatives",
    "ca-certificates",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki",
    "protocols",
    "services",
    "ssl",
    "timezone",
)
_KERNEL_SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""Parts of /proc that root may write even without any capability, and bubblewrap leaves as they are for root."""

_NETWORK_CONFIGURATION = ("resolv.conf",)
_NAMESPACES = (
    "--unshare-user-try",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--hostname",
    "sandbox",
    "--cap-drop",
    "ALL",
    "--die-with-parent",
)


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """What was found of bubblewrap.

    Attributes:
        path: The program; "" when it cannot be used.
        version: As it names itself.
        problem: Why it cannot be used.
    """

    path: str = ""
    version: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The directories of a session that stand in for /tmp and the home."""

    temporary: Path
    home: Path


def find_bubblewrap(env: Mapping[str, str]) -> Bubblewrap:
    """Look for bubblewrap and run it once, since many a kernel or container forbids what it needs."""
    path = shutil.which("bwrap", path=env.get("PATH"))
    if path is None:
        return Bubblewrap(problem="bubblewrap is not installed")
    try:
        version = _run([path, "--version"]).stdout.decode(errors="replace").strip()
        probe = _run([path, *_NAMESPACES, "--unshare-net", *_system(network=False), "--", "/bin/sh", "-c", ":"])
    except (OSError, subprocess.TimeoutExpired) as error:
        return Bubblewrap(problem=f"bubblewrap does not work here: {error}")
    if probe.returncode != 0:
        said = probe.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if said else f"status {probe.returncode}"
        return Bubblewrap(version=version, problem=f"bubblewrap does not work here: {reason}")
    return Bubblewrap(path, version)


def confinement(spec: SandboxSpec, scratch: Scratch, *, terminal: bool) -> tuple[str, ...]:
    """Give bubblewrap's options for one command of a sandbox.

    Args:
        spec: The sandbox.
        scratch: Its own directories.
        terminal: The command has a terminal of its own and stays in the terminal's session.
    """
    options = [*_NAMESPACES, *_system(network=spec.network == "open")]
    if spec.network != "open":
        options.append("--unshare-net")
    if not terminal:
        options.append("--new-session")
    options += ["--bind", str(scratch.temporary), "/tmp", "--bind", str(scratch.home), HOME]
    if inner_workspace(spec) == spec.workspace:
        options += ["--bind", spec.workspace, spec.workspace]
    for mount in spec.mounts:
        options += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.target]
    for mask in spec.masks:
        if mask.directory:
            options += ["--perms", "0000", "--tmpfs", mask.target, "--remount-ro", mask.target]
        else:
            options += ["--ro-bind", os.devnull, mask.target]
    return (*options, "--remount-ro", "/", "--chdir", inner_workspace(spec))


def inner_workspace(spec: SandboxSpec) -> str:
    """Where a confined command finds its workspace.

    A mount that shows it has others inside that narrow it; a second view at its own path would lack those.
    """
    return next((mount.target for mount in spec.mounts if mount.source == spec.workspace), spec.workspace)


def shows(spec: SandboxSpec, path: str) -> bool:
    """Whether a path of this machine is the same thing inside the sandbox."""
    shown = [*_SYSTEM, *(mount.target for mount in spec.mounts if mount.source == mount.target)]
    return any(path == place or path.startswith(f"{place}/") for place in shown)


def _system(*, network: bool) -> Iterator[str]:
    for place in _SYSTEM:
        if os.path.islink(place):  # noqa: PTH114 - strings go to bubblewrap
            yield from ("--symlink", os.readlink(place), place)  # noqa: PTH115
        else:
            yield from ("--ro-bind-try", place, place)
    for name in (*_CONFIGURATION, *(_NETWORK_CONFIGURATION if network else ())):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    yield from ("--proc", "/proc", "--dev", "/dev")
    for name in _KERNEL_SETTINGS:
        yield from ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, env={}, check=False
    )
