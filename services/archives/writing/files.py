"""Files of an archive, written so that they are surely there."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from services.archives.working import Gauge
from services.errors import ArchiveError

BLOCK = 1024 * 1024
_FRESH = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class FileSum(msgspec.Struct, frozen=True):
    """A file with its checksum.

    Attributes:
        name: Its path in the archive.
        size: Bytes.
        sha256: 64 hex digits.
    """

    name: str
    size: int
    sha256: str


class FreshFile:
    """A file that is written beside its place, and put there once it was read back.

    Use it as a context manager; a file that was not finished is removed.

    Args:
        directory: The archive's.
        name: The file's path in the archive; its folder exists.

    Attributes:
        size: Bytes written so far.

    Raises:
        OSError: From here and from every method: the disk refuses.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.name = name
        self.size = 0
        self._place = directory / name
        self._fresh = self._place.with_name(f".{self._place.name}.new")
        self._descriptor = os.open(self._fresh, _FRESH, 0o600)
        self._sum = hashlib.sha256()
        self._finished = False

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes at the end."""
        self._sum.update(data)
        left = memoryview(data)
        while left:
            left = left[os.write(self._descriptor, left) :]
        self.size += len(data)

    def synced(self) -> int:
        """Wait until it is on the disk; return a descriptor to read it back by, from its beginning."""
        self.sync()
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        return self._descriptor

    def sync(self) -> int:
        """Wait until what was written is on the disk; return a descriptor to read it back by, given the place."""
        os.fsync(self._descriptor)
        with contextlib.suppress(OSError):  # only so that it is the disk that is read, and not the memory
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        return self._descriptor

    def finish(self, read_back: str, size: int) -> FileSum:
        """Put the file in its place.

        Args:
            read_back: SHA-256 of what was read back.
            size: Bytes read back.

        Raises:
            ArchiveError: That is not what was written.
        """
        if (read_back, size) != (self._sum.hexdigest(), self.size):
            raise ArchiveError(
                f"{self.name} was not kept",
                why="what was read back from the disk is not what was written",
                fix="Look at the system's log for errors of the disk.",
            )
        self._fresh.replace(self._place)
        sync_directory(self._place.parent)
        self._finished = True
        return FileSum(self.name, self.size, read_back)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        if not self._finished:
            self._fresh.unlink(missing_ok=True)


def blocks(descriptor: int, gauge: Gauge | None = None) -> Iterator[memoryview]:
    """Read a file to its end; each block is overwritten by the next.

    Args:
        descriptor: Read from where it is.
        gauge: Told of the bytes.
    """
    buffer = memoryview(bytearray(BLOCK))
    while count := os.readv(descriptor, [buffer]):
        yield buffer[:count]
        if gauge is not None:
            gauge.advance(size=count)


def sum_of(descriptor: int, gauge: Gauge | None = None) -> tuple[str, int]:
    """Hash a file to its end; the SHA-256 and the number of bytes."""
    digest, size = hashlib.sha256(), 0
    for block in blocks(descriptor, gauge):
        digest.update(block)
        size += len(block)
    return digest.hexdigest(), size


def write_checked(directory: Path, name: str, data: bytes) -> FileSum:
    """Write a whole file, read it back and put it in its place."""
    with FreshFile(directory, name) as file:
        file.write(data)
        return file.finish(*sum_of(file.synced()))


def sync_directory(directory: Path) -> None:
    """Wait until a directory's names are on the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
