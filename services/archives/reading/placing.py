"""Files, folders and links put below a directory, each by open folders, so that nothing leads out of it."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NOBODY = 2**32 - 1
_FATAL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


class InTheWay(Exception):
    """Something is in a member's place."""


class NotAFolder(Exception):
    """A part of a path is a link or a file."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What a file, folder or link is given besides its bytes.

    Attributes:
        mode: Permission bits.
        mtime: Nanoseconds since 1970.
        owner: User and group ids; None leaves them to the kernel.
        attributes: Extended ones with their values; a link has none.
    """

    mode: int
    mtime: int
    owner: tuple[int, int] | None
    attributes: tuple[tuple[str, bytes], ...] = ()


class Target:
    """A directory that members are written below. All methods block.

    Paths are relative to it, with none of `..`, `.` and empty parts. Use it as a context manager.

    Args:
        root: Made when it is not there; may itself be a link.
        replace: Put members over files and links that are there.

    Attributes:
        unset: Attributes that could not be set: path, name, and why.

    Raises:
        OSError: From here and every method: the disk refuses; see `is_fatal`.
    """

    def __init__(self, root: Path, *, replace: bool) -> None:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._replace = replace
        self.unset: list[tuple[str, str, str]] = []
        self._made: list[tuple[str, Marks]] = []
        self._last: tuple[str, int] | None = None

    def folder(self, path: str, marks: Marks) -> None:
        """Make a folder; one that is there stays as it is."""
        above, name = self._above(path)
        try:
            os.mkdir(name, 0o700, dir_fd=above)
        except FileExistsError as error:
            if not stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
                raise InTheWay from error
        else:
            self._made.append((path, marks))

    def file(self, path: str, content: Iterable[bytes | int], size: int, marks: Marks) -> None:
        """Write a file; a number among its bytes stands for as many zeros. An error leaves nothing behind."""
        above, name = self._above(path)
        fresh = f".{secrets.token_hex(8)}.new" if self._replace else name
        try:
            descriptor = os.open(fresh, _FRESH, 0o600, dir_fd=above)
        except FileExistsError as error:
            raise InTheWay from error
        try:
            try:
                _fill(descriptor, content, size)
                self._mark(path, descriptor, marks)
            finally:
                os.close(descriptor)
            if self._replace:
                _rename(fresh, name, above)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(fresh, dir_fd=above)
            raise

    def link(self, path: str, target: str, marks: Marks) -> None:
        """Make a symbolic link, wherever it leads."""
        above, name = self._above(path)
        self._clear(above, name)
        try:
            os.symlink(target, name, dir_fd=above)
        except FileExistsError as error:
            raise InTheWay from error
        if marks.owner is not None:
            os.chown(name, *marks.owner, dir_fd=above, follow_symlinks=False)
        os.utime(name, ns=(marks.mtime, marks.mtime), dir_fd=above, follow_symlinks=False)

    def hard_link(self, path: str, other: str) -> None:
        """Give a file that was written a second name.

        Raises:
            FileNotFoundError: It was not written.
        """
        source_folder, source = self._above(other)
        kept = os.dup(source_folder)  # asking for the other folder may close this one
        try:
            above, name = self._above(path)
            self._clear(above, name)
            os.link(source, name, src_dir_fd=kept, dst_dir_fd=above, follow_symlinks=False)
        except FileExistsError as error:
            raise InTheWay from error
        finally:
            os.close(kept)

    def finish(self) -> None:
        """Give the folders that were made their modes and times, and wait until everything is on the disk."""
        for path, marks in reversed(self._made):
            descriptor = self._open(path)
            try:
                self._mark(path, descriptor, marks)
            finally:
                os.close(descriptor)
        _sync(self._root)

    def close(self) -> None:
        """Free the folders."""
        self._forget_last()
        os.close(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _mark(self, path: str, descriptor: int, marks: Marks) -> None:
        if marks.owner is not None and max(marks.owner) < _NOBODY:
            os.fchown(descriptor, *marks.owner)
        for name, value in marks.attributes:
            try:
                os.setxattr(descriptor, name, value)
            except OSError as error:  # the file system has none, or not so many
                self.unset.append((path, name, error.strerror or str(error)))
        os.fchmod(descriptor, marks.mode)
        os.utime(descriptor, ns=(marks.mtime, marks.mtime))

    def _above(self, path: str) -> tuple[int, str]:
        """The open folder a path is in, made where it is missing, and the path's last part."""
        folder, _, name = path.rpartition("/")
        if not folder:
            return self._root, name
        if self._last is None or self._last[0] != folder:
            self._forget_last()
            self._last = (folder, self._open(folder, make=True))
        return self._last[1], name

    def _open(self, path: str, *, make: bool = False) -> int:
        folder = os.dup(self._root)
        try:
            for part in path.split("/"):
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=folder)
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
        except OSError as error:
            os.close(folder)
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise NotAFolder from error
            raise
        return folder

    def _forget_last(self) -> None:
        if self._last is not None:
            os.close(self._last[1])
            self._last = None

    def _clear(self, above: int, name: str) -> None:
        if self._replace:
            try:
                os.unlink(name, dir_fd=above)
            except FileNotFoundError:
                return
            except IsADirectoryError as error:
                raise InTheWay from error


def is_fatal(error: OSError) -> bool:
    """Whether the next member would fare no better."""
    return error.errno in _FATAL


def _fill(descriptor: int, content: Iterable[bytes | int], size: int) -> None:
    for piece in content:
        if isinstance(piece, int):
            os.lseek(descriptor, piece, os.SEEK_CUR)
            continue
        left = memoryview(piece)
        while left:
            left = left[os.write(descriptor, left) :]
    os.ftruncate(descriptor, size)


def _sync(descriptor: int) -> None:
    """Wait for the disk that a file is on, once for all that was written; `os.sync` would wait for every other too."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.syncfs(descriptor):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _rename(fresh: str, name: str, above: int) -> None:
    try:
        os.rename(fresh, name, src_dir_fd=above, dst_dir_fd=above)
    except (IsADirectoryError, FileExistsError) as error:
        raise InTheWay from error
