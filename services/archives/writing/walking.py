"""A workspace walked in one order, by open folders, so that no link and no renamed folder leads the walk astray."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.archives.members import shown
from services.archives.model import Omission, Omitted

DEEPEST = 256
"""Folders below folders; each of them is open while what is in it is looked at."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OMISSIONS = {stat.S_IFSOCK: Omission.SOCKET, stat.S_IFIFO: Omission.FIFO}


@dataclass(frozen=True, slots=True)
class Found:
    """A folder, file or symbolic link of a workspace.

    Attributes:
        path: Below the workspace; empty for the workspace itself.
        folder: Descriptor of the folder it is in, open until the walk goes on.
        name: Its name in that.
        facts: What the kernel said of it, links not followed.
    """

    path: bytes
    folder: int
    name: bytes
    facts: os.stat_result


@dataclass(slots=True)
class _Level:
    descriptor: int
    path: bytes
    names: list[bytes]


def walk(workspace: Path) -> Iterator[Found | Omitted]:
    """Yield everything in a workspace, each folder before what is in it, names sorted as bytes.

    Folders on other file systems are gone into as well. A workspace that is not there has nothing in it.

    Raises:
        OSError: The workspace itself cannot be read.
    """
    try:
        root = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # it may itself be a link
    except FileNotFoundError:
        return
    levels: list[_Level] = []
    try:
        levels.append(_Level(root, b"", _names(root)))
        yield Found(b"", root, b".", os.fstat(root))
        while levels:
            level = levels[-1]
            if not level.names:
                os.close(levels.pop().descriptor)
                continue
            name = level.names.pop()
            path = level.path + b"/" + name if level.path else name
            entry = _look(level.descriptor, path, name)
            yield entry
            if isinstance(entry, Found) and stat.S_ISDIR(entry.facts.st_mode):
                below = _enter(entry, len(levels))
                if isinstance(below, Omitted):
                    yield below
                else:
                    levels.append(below)
    finally:
        for level in levels:
            os.close(level.descriptor)


def _names(descriptor: int) -> list[bytes]:
    return sorted((os.fsencode(name) for name in os.listdir(descriptor)), reverse=True)


def _look(folder: int, path: bytes, name: bytes) -> Found | Omitted:
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        return omitted(path, error)
    kind = stat.S_IFMT(facts.st_mode)
    if kind in (stat.S_IFDIR, stat.S_IFREG, stat.S_IFLNK):
        return Found(path, folder, name, facts)
    return Omitted(shown(path), _OMISSIONS.get(kind, Omission.DEVICE))


def _enter(entry: Found, depth: int) -> _Level | Omitted:
    if depth >= DEEPEST:
        return Omitted(shown(entry.path), Omission.TOO_DEEP, f"what is in it was left out: at most {DEEPEST} are kept")
    try:
        descriptor = os.open(entry.name, _FOLDER, dir_fd=entry.folder)
    except OSError as error:
        return omitted(entry.path, error)
    try:
        return _Level(descriptor, entry.path, _names(descriptor))
    except OSError as error:
        os.close(descriptor)
        return omitted(entry.path, error)


def omitted(path: bytes, error: OSError) -> Omitted:
    """Say why something could not be read."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Omitted(shown(path), Omission.VANISHED)
    return Omitted(shown(path), Omission.UNREADABLE, error.strerror or str(error))
