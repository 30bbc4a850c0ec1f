"""The files of an archive, opened so that no name and no link leads out of it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from services.archives.members import shown
from services.errors import ArchiveDamaged, ArchiveNotFound

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DEEPEST = 8


class Folder:
    """The directory of an archive. All methods block.

    Use it as a context manager.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a directory that is no link.

        Raises:
            ArchiveNotFound: It is not there.
            ArchiveDamaged: It is no directory, or cannot be read.
        """
        try:
            return cls(path, os.open(path, _FOLDER))
        except FileNotFoundError as error:
            raise ArchiveNotFound(f"there is no archive {path.name}") from error
        except OSError as error:
            why = "it is a link or no directory" if isinstance(error, NotADirectoryError) else error.strerror
            raise ArchiveDamaged(f"cannot read the archive {path.name}", why=why or str(error)) from error

    def descriptor_of(self, name: str) -> int:
        """Open a file for reading; whoever asks closes it.

        Raises:
            FileNotFoundError: It is not there.
            OSError: It cannot be read, is no regular file, or a part of its path is a link.
        """
        if fault := fault_of_name(name):
            raise FileNotFoundError(2, fault, name)
        *above, last = name.split("/")
        folder = os.dup(self._descriptor)
        try:
            for part in above:
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            descriptor = os.open(last, _FILE, dir_fd=folder)
        finally:
            os.close(folder)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(22, "it is not a regular file", name)
        return descriptor

    def read(self, name: str, limit: int) -> bytes:
        """Read a whole file.

        Raises:
            ArchiveDamaged: It is missing, cannot be read or has more than `limit` bytes.
        """
        try:
            descriptor = self.descriptor_of(name)
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(limit + 1)
        except OSError as error:
            raise self._damaged(name, error.strerror or str(error)) from error
        if len(data) > limit:
            raise self._damaged(name, f"it has more than {limit:,} bytes")
        return data

    def has(self, name: str) -> bool:
        """Whether there is such a file, readable or not."""
        try:
            os.close(self.descriptor_of(name))
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def walk(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yield everything but folders with its path and what the kernel says of it; links are not followed.

        Raises:
            OSError: A folder cannot be read.
        """
        yield from self._walk(self._descriptor, "", 0)

    def _walk(self, folder: int, above: str, depth: int) -> Iterator[tuple[str, os.stat_result]]:
        for name in sorted(os.listdir(folder)):
            facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(facts.st_mode) or depth == _DEEPEST:
                yield above + name, facts
                continue
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                yield from self._walk(below, f"{above}{name}/", depth + 1)
            finally:
                os.close(below)

    def close(self) -> None:
        """Free the directory."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _damaged(self, name: str, why: str) -> ArchiveDamaged:
        return ArchiveDamaged(f"cannot read {shown(name)} of the archive {self.path.name}", why=why)


def fault_of_name(name: str) -> str:
    """Say why a name that an archive gives for one of its files is not looked at; "" when it is fine."""
    if name.startswith("/"):
        return "its name is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "its name has '..' in it"
    if not name or "" in parts or "." in parts or len(parts) > _DEEPEST:
        return "it has no usable name"
    return "its name has control characters" if _CONTROL.search(name) else ""
