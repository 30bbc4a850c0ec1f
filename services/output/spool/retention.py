"""Keeps a spool to its limit by removing the oldest segments."""

from __future__ import annotations

import contextlib
from pathlib import Path

from services.output.spool.layout import RECORD_SIZE, data_name, index_name, runs_name, unpack_record
from services.output.spool.repair import remove_segment

_SMALLEST_SEGMENT = 64 * 1024
_LARGEST_SEGMENT = 64 * 1024 * 1024
_SEGMENTS = 16


class Retention:
    """The full segments of a spool and how much they take.

    Args:
        directory: The spool's.
        limit: Bytes all files may take, as far as whole segments allow.

    Attributes:
        segment_size: At how many bytes a segment is full.
    """

    def __init__(self, directory: Path, limit: int) -> None:
        self._directory = directory
        self._limit = limit
        self._sizes: dict[int, int] = {}
        self.segment_size = min(max(limit // _SEGMENTS, _SMALLEST_SEGMENT), _LARGEST_SEGMENT)

    @property
    def oldest(self) -> int | None:
        """Where the oldest full segment starts; None when there is none."""
        return min(self._sizes, default=None)

    def add(self, start: int, size: int | None = None) -> None:
        """Take note of a full segment; its size is looked up when not given.

        Raises:
            OSError: It cannot be looked up.
        """
        self._sizes[start] = self._size(start) if size is None else size

    def first_kept(self, filling: int) -> int:
        """Where output must begin so that the segment being filled, which starts at `filling`, may become full."""
        total = sum(self._sizes.values()) + self.segment_size
        starts = [*sorted(self._sizes), filling]
        while total > self._limit and len(starts) > 1:
            total -= self._sizes[starts.pop(0)]
        return starts[0]

    def first_line(self, start: int) -> int:
        """The line the first byte of a segment belongs to.

        Raises:
            OSError: The segment cannot be read.
        """
        with (self._directory / index_name(start)).open("rb") as file:
            record = unpack_record(file.read(RECORD_SIZE))
        if record is None:
            raise OSError(f"the first record of {index_name(start)} is damaged")
        return record.line

    def remove_before(self, offset: int) -> None:
        """Remove the segments that end here or before; what cannot be removed goes when the spool is opened again."""
        for start in [start for start in self._sizes if start < offset]:
            del self._sizes[start]
            with contextlib.suppress(OSError):
                remove_segment(self._directory, start)

    def _size(self, start: int) -> int:
        paths = [self._directory / name(start) for name in (data_name, index_name, runs_name)]
        return sum(path.stat().st_size for path in paths if path.exists())
