"""Paths as people write them, and where on this machine they lead."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Literal

import msgspec

PlaceKind = Literal["directory", "file", "missing", "other"]


class Place(msgspec.Struct, frozen=True):
    """Where a path leads.

    Attributes:
        path: Absolute, every symbolic link followed; also for what is missing.
        kind: `other` is a socket, a device or a pipe.
    """

    path: str
    kind: PlaceKind


Look = Callable[[str], Place]


def look_on_disk(path: str) -> Place:
    """Follow every link of an absolute path and say what is there; what may not be looked at counts as missing."""
    resolved = os.path.realpath(path)
    try:
        mode = os.stat(resolved).st_mode  # noqa: PTH116 - a string in, a string out
    except OSError:
        return Place(resolved, "missing")
    if stat.S_ISDIR(mode):
        return Place(resolved, "directory")
    return Place(resolved, "file" if stat.S_ISREG(mode) else "other")


def written_path(text: str, base: str) -> str:
    """Make a configured path absolute: `~` is the operator's home, relative ones start at `base`; links are kept."""
    path = os.path.normpath(os.path.join(base, os.path.expanduser(text)))  # noqa: PTH111, PTH118 - text in, text out
    return "/" + path.lstrip("/")  # normpath keeps a double slash at the start


def covers(outer: str, inner: str) -> bool:
    """Whether `inner` is `outer` or lies below it; both absolute and resolved."""
    return inner == outer or inner.startswith(outer if outer.endswith("/") else f"{outer}/")


def moved(path: str, source: str, target: str) -> str:
    """Where `path`, which `source` covers, is found when `source` is mounted at `target`."""
    rest = path[len(source) :].strip("/")
    return os.path.join(target, rest) if rest else target  # noqa: PTH118
