"""Writing into a workspace that may be written and not read, through no link and over no other kind of file."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from services.errors import InputRefused, MemoryRefused

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def parts_of(path: str) -> tuple[str, ...]:
    """Read a path inside a drop box.

    Raises:
        InputRefused: It is empty, absolute, or leads upwards.
    """
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path or path.endswith("/"):
        raise InputRefused("the path leads to no file of the drop box", fix="Give a relative path without '..'.")
    return parts


def write_into(box: Path, parts: tuple[str, ...], content: bytes) -> bool:
    """Write a file whole; the agent whose workspace it is owns it, and the directories made on the way.

    Whoever works in the workspace may put links there at any moment; none is followed.

    Args:
        box: The workspace.
        parts: The way to the file, as `parts_of` gives it.
        content: All of it.

    Returns:
        Whether it is new.

    Raises:
        MemoryRefused: Something is in the way, or the disk refuses.
    """
    try:
        with _directory(box, parts[:-1]) as (directory, owner):
            return _write(directory, parts[-1], content, owner)
    except OSError as error:
        raise MemoryRefused("the file was not written", why=error.strerror or "the disk refuses") from error


@contextmanager
def _directory(box: Path, parts: tuple[str, ...]) -> Iterator[tuple[int, os.stat_result]]:
    """Walk down, making what is missing."""
    descriptor = os.open(box, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        owner = os.fstat(descriptor)
        for part in parts:
            try:
                os.mkdir(part, 0o755, dir_fd=descriptor)
                made = True
            except FileExistsError:
                made = False
            inner = os.open(part, _DIRECTORY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
            if made:
                _give(descriptor, owner)
        yield descriptor, owner
    finally:
        os.close(descriptor)


def _write(directory: int, name: str, content: bytes, owner: os.stat_result) -> bool:
    try:
        there = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        there = None
    if there is not None and not stat.S_ISREG(there.st_mode):
        raise MemoryRefused("the file was not written", why="something else than a file is there")
    beside = f".{name[:100]}.{secrets.token_hex(6)}"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644, dir_fd=directory)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
            opened.flush()
            _give(opened.fileno(), owner)
            os.fsync(opened.fileno())
        os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(beside, dir_fd=directory)
        raise
    return there is None


def _give(descriptor: int, owner: os.stat_result) -> None:
    """Give what root made to whoever owns the workspace; anybody else is that owner already."""
    if os.geteuid() == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
