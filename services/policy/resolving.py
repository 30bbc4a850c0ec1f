"""Where a path really leads: every component followed, dangling links included, fail closed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

MAX_HOPS = 64
"""Symbolic links followed before a path counts as unresolvable; ZeroClaw allows the same number."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The outcome of following a path.

    Attributes:
        path: Absolute, without links, `.` or `..`; "" when it could not be followed.
        problem: Why it could not be followed; "" when it could.
        hops: Symbolic links followed on the way.
        links: Names the last component has on disk; more than 1 means a hard link elsewhere shares the content.
    """

    path: str
    problem: str = ""
    hops: int = 0
    links: int = 1


def resolve(path: str, *, start: str = "", lstat: Callable[[str], os.stat_result] = os.lstat) -> Resolved:
    """Follow a path to where it leads, whether or not its end exists.

    Args:
        path: Absolute, or relative to `start`.
        start: A folder that is resolved already; its components are not looked up again.
        lstat: Looks one component up.

    Components after the first missing one are taken as they are. A cycle, more than `MAX_HOPS` links, a folder that
    cannot be searched, a NUL byte and a relative path make it unresolvable.
    """
    if "\0" in path:
        return Resolved("", "it holds a NUL byte")
    if not start and not path.startswith("/"):
        return Resolved("", "it is relative")
    pending = [part for part in reversed(path.split("/")) if part and part != "."]
    real = "" if path.startswith("/") else start.rstrip("/")
    hops = 0
    exists = True
    links = 1
    while pending:
        part = pending.pop()
        if part == "..":
            real = real[: real.rfind("/")] if real else ""
            exists = True
            continue
        step = f"{real}/{part}"
        if not exists:
            real = step
            continue
        try:
            found = lstat(step)
        except (FileNotFoundError, NotADirectoryError):
            real, exists, links = step, False, 1
            continue
        except (OSError, ValueError) as error:
            return Resolved("", f"{step} cannot be looked up: {_reason(error)}", hops)
        if not stat.S_ISLNK(found.st_mode):
            real = step
            links = 1 if stat.S_ISDIR(found.st_mode) else found.st_nlink
            continue
        hops += 1
        if hops > MAX_HOPS:
            return Resolved("", f"more than {MAX_HOPS} symbolic links, or a cycle of them", hops)
        try:
            target = os.readlink(step)  # noqa: PTH115 - text in, text out
        except OSError as error:
            return Resolved("", f"the link {step} cannot be read: {_reason(error)}", hops)
        if target.startswith("/"):
            real = ""
        pending.extend(piece for piece in reversed(target.split("/")) if piece and piece != ".")
    return Resolved(real or "/", "", hops, links)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
