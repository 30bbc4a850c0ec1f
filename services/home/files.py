"""Files written whole, and never over a change nobody saw."""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from services.errors import FileConflict, PinfoldError


@dataclass(frozen=True)
class Stamp:
    """What a file was when it was read; `Stamp.of` a missing file is `Stamp.MISSING`.

    The inode is part of it, since editors that replace the file may keep its size and, on a coarse clock, its time.
    """

    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Read the stamp of a file, following links."""
        try:
            found = path.stat()
        except FileNotFoundError:
            return MISSING
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)


MISSING = Stamp(0, -1, 0)


@dataclass(frozen=True)
class FileText:
    """A text file as it was read.

    Attributes:
        data: The bytes, with BOM and line ends as they are.
        stamp: Taken before the bytes were read, so a later change is never mistaken for this one.
    """

    path: Path
    data: bytes
    stamp: Stamp


def read_file(path: Path, limit: int = 16 * 1024 * 1024) -> FileText:
    """Read a file people edit.

    Args:
        path: The file.
        limit: The most bytes taken; more is an error, so that a device or a log is never read to its end.

    Raises:
        FileNotFoundError: It is not there.
        PinfoldError: It cannot be read, is no regular file or is too large.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PinfoldError(f"cannot read {path}", why=error.strerror or str(error)) from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            kind = "a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
            raise PinfoldError(f"cannot read {path}", why=f"it is {kind}")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise PinfoldError(f"cannot read {path}", why=f"it is larger than {limit // 1024 // 1024} MiB")
    return FileText(path, data, Stamp(found.st_ino, found.st_size, found.st_mtime_ns))


def write_whole(path: Path, data: bytes, *, expected: Stamp | None = None, mode: int = 0o600) -> Stamp:
    """Write a file beside the old one, sync it, and rename it over.

    A symbolic link is followed, so that a linked file stays linked. The old file's mode is kept.

    Args:
        path: The file; its directory must exist.
        data: All of it.
        expected: What the file must still be; None writes regardless.
        mode: Permission bits of a file that was not there.

    Raises:
        FileConflict: The file is no longer what `expected` says.
        PinfoldError: It cannot be written; the old file is untouched.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        old = target.stat() if target.exists() else None
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if old is not None:
                    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            if expected is not None and Stamp.of(target) != expected:
                raise FileConflict(
                    f"{path} was not written",
                    why="it changed on disk since it was read",
                    fix="Look at both versions and choose.",
                )
            fresh.replace(target)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        _sync_directory(target.parent)
    except OSError as error:
        raise PinfoldError(f"cannot write {path}", why=error.strerror or str(error)) from error
    return Stamp.of(target)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
