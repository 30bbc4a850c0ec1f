"""The memory files of one workspace, opened so that no link leads out of it.

An agent can write its workspace from inside its sandbox, so a file there may be a link, a pipe or anything else.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.errors import FileConflict, PinfoldError
from services.home import make_directory

MEMORY = "MEMORY.md"
FILE_LIMIT = 16 * 1024 * 1024

_DAILY = re.compile(r"\d{4}-\d{2}-\d{2}\.md", re.ASCII)
_FOLDER = "memory"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

Stamp = tuple[int, int, int, int] | None
"""What a file was when it was read; None for a missing one."""


@dataclass(frozen=True)
class File:
    """A memory file.

    Attributes:
        name: `MEMORY.md`, or the name of a day's file.
        text: Bytes that are no UTF-8 are lone surrogates.
        modified: Nanoseconds since 1970.
    """

    name: str
    text: str
    stamp: Stamp
    modified: int


@dataclass
class Folder:
    """An open workspace.

    Attributes:
        workspace: Where it lies.
    """

    workspace: Path
    _root: int
    _days: int | None

    @classmethod
    @contextlib.contextmanager
    def opened(cls, workspace: Path, *, make: bool) -> Iterator[Folder | None]:
        """Open a workspace; None when it is missing.

        Args:
            workspace: Absolute.
            make: Make it, and the folder of daily files, when they are missing.

        Raises:
            PinfoldError: It cannot be opened, or the folder of daily files is a link.
        """
        if make:
            make_directory(workspace)
        with contextlib.ExitStack() as closing:
            try:
                root = os.open(workspace, _DIRECTORY)
            except FileNotFoundError:
                yield None
                return
            except OSError as error:
                raise _cannot("open", workspace, error) from error
            closing.callback(os.close, root)
            days = _open_days(workspace, root, make=make)
            if days is not None:
                closing.callback(os.close, days)
            yield cls(workspace, root, days)

    def files(self) -> list[File]:
        """Read every memory file, `MEMORY.md` first, then days from the newest on."""
        names = [MEMORY]
        if self._days is not None:
            days = os.listdir(self._days)  # noqa: PTH208 - of an open directory
            names.extend(sorted(filter(_DAILY.fullmatch, days), reverse=True))
        return [file for name in names if (file := self._read(name)) is not None]

    def _read(self, name: str) -> File | None:
        path = self._path(name)
        try:
            descriptor = os.open(name, _READ, dir_fd=self._place(name))
            try:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise PinfoldError(f"cannot read {path}", why="it is not a file")
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    data = file.read(FILE_LIMIT + 1)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _cannot("read", path, error) from error
        if len(data) > FILE_LIMIT:
            raise PinfoldError(f"cannot read {path}", why=f"it has more than {FILE_LIMIT:,} bytes")
        return File(name, data.decode("utf-8", "surrogateescape"), _stamp(status), status.st_mtime_ns)

    def write(self, name: str, text: str, expected: Stamp) -> None:
        """Write a file whole, unless it is no longer what was read.

        Raises:
            FileConflict: It changed meanwhile.
            PinfoldError: It cannot be written, or would be too large; the old file is untouched.
        """
        data = text.encode("utf-8", "surrogateescape")
        path, place = self._path(name), self._place(name)
        if len(data) > FILE_LIMIT:
            raise PinfoldError(f"cannot write {path}", why=f"it would have more than {FILE_LIMIT:,} bytes")
        fresh = f".{name}.{os.getpid()}-{secrets.token_hex(4)}.new"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(fresh, flags, 0o644, dir_fd=place)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    self._keep_owner(descriptor)
                    file.write(data)
                    file.flush()
                    os.fsync(descriptor)
                if self._stamp_now(name) != expected:
                    raise FileConflict(f"{path} was not written", why="it changed on disk since it was read")
                os.replace(fresh, name, src_dir_fd=place, dst_dir_fd=place)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(fresh, dir_fd=place)
                raise
            os.fsync(place)
        except OSError as error:
            raise _cannot("write", path, error) from error

    def _stamp_now(self, name: str) -> Stamp:
        try:
            return _stamp(os.stat(name, dir_fd=self._place(name), follow_symlinks=False))
        except FileNotFoundError:
            return None

    def _keep_owner(self, descriptor: int) -> None:
        """Let whoever owns the workspace, which may be the sandbox's user, own the file."""
        owner = os.fstat(self._root)
        with contextlib.suppress(PermissionError):  # only root may give a file away
            os.fchown(descriptor, owner.st_uid, owner.st_gid)

    def _place(self, name: str) -> int:
        if name == MEMORY:
            return self._root
        assert self._days is not None
        return self._days

    def _path(self, name: str) -> Path:
        return self.workspace / name if name == MEMORY else self.workspace / _FOLDER / name


def _open_days(workspace: Path, root: int, *, make: bool) -> int | None:
    try:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(_FOLDER, 0o755, dir_fd=root)
                owner = os.fstat(root)
                with contextlib.suppress(PermissionError):  # only root may give a folder away
                    os.chown(_FOLDER, owner.st_uid, owner.st_gid, dir_fd=root, follow_symlinks=False)
        return os.open(_FOLDER, _DIRECTORY | os.O_NOFOLLOW, dir_fd=root)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot("open", workspace / _FOLDER, error) from error


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _cannot(do: str, path: Path, error: OSError) -> PinfoldError:
    return PinfoldError(f"cannot {do} {path}", why=error.strerror or str(error))
