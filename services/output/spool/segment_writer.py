"""The segment that grows: data first, then the record that makes it count."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from services.output.spool.layout import RECORD_SIZE, RUN_SIZE, data_name, index_name, runs_name

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_MODE = 0o600


class SegmentWriter:
    """The files of one segment, open for writing.

    Args:
        directory: The spool's.
        start: The offset of the segment's first byte.
        data_size: How many bytes of the files count; what lies behind is overwritten.
        records: How many records count.
        fresh: Begin with empty files, whatever was there.

    Raises:
        OSError: A file cannot be opened.
    """

    def __init__(self, directory: Path, start: int, data_size: int = 0, records: int = 0, *, fresh: bool) -> None:
        self.start = start
        self._runs_path = directory / runs_name(start)
        self._data_size = data_size
        self._index_size = records * RECORD_SIZE
        self._torn = False
        self._replaced = b""
        with contextlib.ExitStack() as opened:
            truncate = os.O_TRUNC if fresh else 0
            self._data = _open(directory / data_name(start), truncate, opened)
            if fresh:
                self._runs_path.unlink(missing_ok=True)
            self._runs = _open(self._runs_path, 0, opened) if self._runs_path.exists() else None
            self._index = _open(directory / index_name(start), truncate, opened)
            self._runs_size = 0 if self._runs is None else os.fstat(self._runs).st_size // RUN_SIZE * RUN_SIZE
            opened.pop_all()

    @property
    def size(self) -> int:
        """Bytes it takes on disk."""
        return self._data_size + self._index_size + self._runs_size

    @property
    def runs_count(self) -> int:
        """How many runs its runs file holds."""
        return self._runs_size // RUN_SIZE

    def commit(self, data: bytes, runs: bytes, records: bytes, *, replace_last: bool) -> None:
        """Append all of it or nothing.

        Args:
            data: New bytes of output.
            runs: New runs.
            records: New records that tell of both.
            replace_last: The first of `records` takes the place of the last one there is.

        Raises:
            OSError: It could not be written; the segment is as it was.
        """
        self.settle()
        index_at = self._index_size - (RECORD_SIZE if replace_last else 0)
        self._replaced = os.pread(self._index, RECORD_SIZE, index_at) if replace_last else b""
        self._torn = True
        try:
            _write_all(self._data, data, self._data_size)
            if runs:
                if self._runs is None:
                    self._runs = os.open(self._runs_path, _FLAGS, _MODE)
                _write_all(self._runs, runs, self._runs_size)
            _write_all(self._index, records, index_at)
        except OSError:
            with contextlib.suppress(OSError):  # still torn then, and settled before the next commit
                self.settle()
            raise
        self._torn = False
        self._data_size += len(data)
        self._runs_size += len(runs)
        self._index_size = index_at + len(records)

    def settle(self) -> None:
        """Cut back what a failed commit left.

        Raises:
            OSError: It is still there.
        """
        if not self._torn:
            return
        if self._replaced:
            _write_all(self._index, self._replaced, self._index_size - RECORD_SIZE)
        os.ftruncate(self._index, self._index_size)
        os.ftruncate(self._data, self._data_size)
        if self._runs is not None:
            os.ftruncate(self._runs, self._runs_size)
        self._torn = False

    def sync(self) -> None:
        """Wait until the disk has everything.

        Raises:
            OSError: The disk failed.
        """
        for descriptor in (self._data, self._runs, self._index):
            if descriptor is not None:
                os.fsync(descriptor)

    def close(self) -> None:
        """Free the files."""
        for descriptor in (self._data, self._runs, self._index):
            if descriptor is not None:
                os.close(descriptor)


def _open(path: Path, flags: int, opened: contextlib.ExitStack) -> int:
    descriptor = os.open(path, _FLAGS | flags, _MODE)
    opened.callback(os.close, descriptor)
    return descriptor


def _write_all(descriptor: int, data: bytes, at: int) -> None:
    written = os.pwrite(descriptor, data, at)
    while written < len(data):
        written += os.pwrite(descriptor, data[written:], at + written)
