"""A tar read back from the disk while the rest of it is still being written."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from services.archives.tars.content import skip_content
from services.archives.tars.decompression import Damaged, TarBytes
from services.archives.tars.headers import check_end, next_header
from services.archives.working import Gauge
from services.archives.writing.files import FreshFile
from services.errors import ArchiveError

_STRETCH = 32 * 1024 * 1024
"""Bytes that are synced and then read at once."""

_TELL_SECONDS = 0.02


@dataclass(frozen=True)
class ReadBack:
    """A tar as it is on the disk.

    Attributes:
        members: How many.
        size: Bytes of it when it is not compressed.
        compressed: Bytes of the file.
        sha256: Of the file, 64 hex digits.
    """

    members: int
    size: int
    compressed: int
    sha256: str


class ReadingBack:
    """Passes bytes on to a file, and reads them from the disk in a thread of its own, as whoever restores it will.

    Use it as a context manager; leaving it before `finish` gives up.

    Args:
        file: A compressed tar.
    """

    def __init__(self, file: FreshFile) -> None:
        self._file = file
        self._changed = threading.Condition()
        self._written = self._synced = self._read = 0
        self._complete = self._given_up = False
        self._descriptor = -1
        self._sum = hashlib.sha256()
        self._found: ReadBack | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="pinfold-read-back", daemon=True)

    def write(self, data: bytes) -> None:
        """Add bytes at the end.

        Raises:
            OSError: The disk refuses.
        """
        self._file.write(data)
        with self._changed:
            self._written += len(data)
            if self._written - self._synced >= _STRETCH:
                self._changed.notify()

    def finish(self, gauge: Gauge) -> ReadBack:
        """Wait until all that was written is read.

        Raises:
            ArchiveError: It cannot be read back.
            OSError: The disk refuses.
            GivenUp: Nobody waits any more.
        """
        with self._changed:
            self._complete = True
            self._changed.notify()
        gauge.begin("reading the workspace back", total_size=self._written)
        while self._thread.is_alive():
            gauge.advance(size=self._read - gauge.size)
            self._thread.join(_TELL_SECONDS)
        if isinstance(self._error, Damaged):
            name = self._file.name
            raise ArchiveError(f"{name} was not kept", why=f"it cannot be read back: {self._error}") from self._error
        if self._error is not None or self._found is None:
            raise self._error or AssertionError("unreachable")
        return self._found

    def _work(self) -> None:
        try:
            self._found = self._read_all()
        except _Left:
            return
        except BaseException as error:
            self._error = error

    def _read_all(self) -> ReadBack:
        """Read every member; the tar's own checksum covers every byte."""
        stream, members = TarBytes(self._next, sys.maxsize), 0
        while (header := next_header(stream)) is not None:
            skip_content(stream, header)
            members += 1
        check_end(stream)
        return ReadBack(members, stream.position, self._read, self._sum.hexdigest())

    def _next(self, size: int) -> bytes:
        if self._read == self._synced:
            self._sync_more()
        data = os.pread(self._descriptor, min(size, self._synced - self._read), self._read)
        self._sum.update(data)
        self._read += len(data)
        return data

    def _sync_more(self) -> None:
        with self._changed:
            self._changed.wait_for(self._worth_reading)
            if self._given_up:
                raise _Left
            written = self._written
        self._descriptor = self._file.sync()
        self._synced = written

    def _worth_reading(self) -> bool:
        return self._given_up or self._complete or self._written - self._synced >= _STRETCH

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._given_up = True
            self._changed.notify()
        self._thread.join()


class _Left(Exception):
    """Nobody waits for what is read."""
