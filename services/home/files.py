"""Files written whole, and never over a change nobody saw."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from services.errors import FileConflict, PinfoldError

_READ_LIMIT = 16 * 1024 * 1024


@dataclass(frozen=True)
class Stamp:
    """What a file was when it was read; that of a missing file is `MISSING`.

    The inode is part of it, since editors that replace the file may keep its size and, on a coarse clock, its time.
    """

    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Read the stamp of a file, following links."""
        try:
            return cls.from_stat(path.stat())
        except FileNotFoundError:
            return MISSING

    @classmethod
    def from_stat(cls, found: os.stat_result) -> Stamp:
        """Take the stamp from what the kernel said of a file."""
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


def read_file(path: Path, limit: int = _READ_LIMIT) -> FileText:
    """Read a file people edit.

    Args:
        path: The file.
        limit: The most bytes taken; more is an error, so that a device or a log is never read to its end.

    Raises:
        FileNotFoundError: It is not there.
        PinfoldError: It cannot be read, is no regular file or is too large.
    """
    try:
        # Not blocking: opening a pipe nobody writes to would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                kind = "a directory" if stat.S_ISDIR(found.st_mode) else "not a regular file"
                raise PinfoldError(f"cannot read {path}", why=f"it is {kind}")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PinfoldError(f"cannot read {path}", why=error.strerror or str(error)) from error
    if len(data) > limit:
        raise PinfoldError(f"cannot read {path}", why=f"it is larger than {limit // 1024} KiB")
    return FileText(path, data, Stamp.from_stat(found))


def write_whole(path: Path, data: bytes, *, expected: Stamp | FileText | None = None, mode: int = 0o600) -> Stamp:
    """Write a file beside the old one, sync it, and rename it over.

    A symbolic link is followed, so that a linked file stays linked. The old file's mode and owner are kept.

    Args:
        path: The file; its directory must exist.
        data: All of it.
        expected: What the file must still be: the stamp it had, or, exact on any clock, the text it held; None
            writes regardless.
        mode: Permission bits of a file that was not there.

    Raises:
        FileConflict: The file is no longer what `expected` says.
        PinfoldError: It cannot be written; the old file is untouched.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                _keep_mode_and_owner(target, descriptor)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
                written = Stamp.from_stat(os.fstat(descriptor))
            if not _is_still(target, expected):
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
    return written


def make_directory(path: Path, mode: int = 0o700) -> bool:
    """Make a directory with its parents; return whether it was missing.

    Args:
        path: The directory; one that exists is left as it is.
        mode: Permission bits of every directory made.

    Raises:
        PinfoldError: It cannot be made, or something else is in its place.
    """
    try:
        if path.is_dir():
            return False
        if path.parent != path:
            make_directory(path.parent, mode)
        path.mkdir(mode=mode, exist_ok=True)
    except OSError as error:
        raise PinfoldError(f"cannot make the directory {path}", why=error.strerror or str(error)) from error
    return True


def _keep_mode_and_owner(target: Path, descriptor: int) -> None:
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    fresh = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (fresh.st_uid, fresh.st_gid):
        with contextlib.suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _is_still(target: Path, expected: Stamp | FileText | None) -> bool:
    match expected:
        case None:
            return True
        case FileText(data=data):
            try:
                return read_file(target, len(data) + 1).data == data
            except (FileNotFoundError, PinfoldError):
                return False
        case _:
            return Stamp.of(target) == expected


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
