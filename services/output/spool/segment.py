"""One segment for reading: its records, found by line, offset or time, and its bytes."""

from __future__ import annotations

import bisect
import contextlib
import os
import sys
from pathlib import Path

from services.errors import SpoolError
from services.output.model import Stream
from services.output.spool.layout import (
    LINE_AT,
    OFFSET_AT,
    RECORD_SIZE,
    RUN_SIZE,
    STREAM_BITS,
    UNTIL_AT,
    Record,
    Run,
    data_name,
    index_name,
    runs_name,
    unpack_record,
    unpack_runs,
)

_TRIES = 3
_RECORDS_AHEAD = 512
_NATIVE = sys.byteorder


class Segment:
    """The files of one segment, read with plain reads: nothing is mapped, so nothing stays resident or can fault.

    Args:
        directory: The spool's.
        start: The offset of its first byte.

    Attributes:
        count: How many records it has; at least one, or `open` would not have made it.
        first, last: Of them.
        removed: Its files were removed while this object held them.

    Raises:
        OSError: It is not there, or cannot be read.
    """

    def __init__(self, directory: Path, start: int) -> None:
        self.start = start
        self._runs_path = directory / runs_name(start)
        self._runs_file: int | None = None
        self._index = os.open(directory / index_name(start), os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._data = os.open(directory / data_name(start), os.O_RDONLY | os.O_CLOEXEC)
        except BaseException:
            os.close(self._index)
            raise
        self._last_bytes = b""
        self.count = 0
        self.removed = False
        self.first: Record
        self.last: Record

    @classmethod
    def open(cls, directory: Path, start: int) -> Segment | None:
        """Open a segment; None when it is gone or has no record yet.

        Raises:
            SpoolError: It cannot be read.
        """
        try:
            segment = cls(directory, start)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SpoolError(f"cannot read output in {directory}", why=error.strerror or str(error)) from error
        segment.refresh()
        first = segment._read_record(0) if segment.count else None
        if first is None:
            segment.close()
            return None
        segment.first = first
        return segment

    def close(self) -> None:
        """Free the files."""
        for descriptor in (self._index, self._data, self._runs_file):
            if descriptor is not None:
                os.close(descriptor)

    def refresh(self) -> bool:
        """Take in new records; whether anything changed."""
        found = os.fstat(self._index)
        self.removed = found.st_nlink == 0
        count = found.st_size // RECORD_SIZE
        if count and count == self.count:
            data = os.pread(self._index, RECORD_SIZE, (count - 1) * RECORD_SIZE)
            if data == self._last_bytes:
                return False
        size = os.fstat(self._data).st_size
        while count:
            for _ in range(_TRIES):  # the writer may be changing it right now
                data = os.pread(self._index, RECORD_SIZE, (count - 1) * RECORD_SIZE)
                record = unpack_record(data)
                if record is not None:
                    break
            if record is not None and record.end - self.start <= size and self._has_runs(record):
                changed = data != self._last_bytes
                self.count, self.last, self._last_bytes = count, record, data
                return changed
            count -= 1
        changed = self.count > 0
        self.count, self._last_bytes = 0, b""
        return changed

    def record(self, number: int) -> Record:
        """The record of this number, counted from 0 in the segment.

        Raises:
            SpoolError: It is damaged.
        """
        if number == self.count - 1:
            return self.last
        record = self._read_record(number)
        if record is None:
            raise SpoolError(
                f"output from byte {self.start:,} on cannot be read",
                why=f"record {number} of {index_name(self.start)} is damaged",
            )
        return record

    def blocks(self, number: int, room: int) -> tuple[list[Record], bytes]:
        """Read a block, and those behind it while they fit into so many bytes.

        Raises:
            SpoolError: The record is damaged.
        """
        first = self.record(number)
        records = [first]
        ahead = min(self.count - 1 - number, _RECORDS_AHEAD, room // max(first.length, 1))
        if ahead > 0:
            data = os.pread(self._index, ahead * RECORD_SIZE, (number + 1) * RECORD_SIZE)
            for at in range(0, len(data), RECORD_SIZE):
                is_last = number + len(records) == self.count - 1
                record = self.last if is_last else unpack_record(data, at)
                if record is None or record.end - first.offset > room:
                    break
                records.append(record)
        return records, self.data(first.offset, records[-1].end - first.offset)

    def data(self, offset: int, size: int) -> bytes:
        """Bytes from an offset on, counted over the whole session; fewer where the segment ends."""
        return os.pread(self._data, max(0, min(size, self.last.end - offset)), offset - self.start)

    def runs(self, record: Record) -> list[Run]:
        """Whose bytes a block holds.

        Raises:
            SpoolError: The runs are damaged.
        """
        if not record.mixed:
            return [Run(0, Stream(record.flags & STREAM_BITS), added=False)]
        file = self._runs_descriptor()
        data = b"" if file is None else os.pread(file, record.runs_count * RUN_SIZE, record.runs_at * RUN_SIZE)
        runs = unpack_runs(data, record.length)
        if runs is None:
            raise SpoolError(f"output from byte {record.offset:,} on cannot be read", why="its runs are damaged")
        return runs

    def first_from_line(self, line: int) -> int:
        """Number of the first record whose first byte belongs to this line or a later one; `count` when none does."""
        return self._bisect(LINE_AT, line)

    def first_from_offset(self, offset: int) -> int:
        """Number of the first record that starts at this offset or later; `count` when none does."""
        return self._bisect(OFFSET_AT, offset)

    def first_from_time(self, at: int) -> int:
        """Number of the first record with output of this time or later; `count` when there is none."""
        return self._bisect(UNTIL_AT, at)

    def _has_runs(self, record: Record) -> bool:
        if not record.mixed:
            return True
        file = self._runs_descriptor()
        return file is not None and os.fstat(file).st_size >= (record.runs_at + record.runs_count) * RUN_SIZE

    def _runs_descriptor(self) -> int | None:
        """The runs file, opened on first use; None when it is not there."""
        if self._runs_file is None:
            with contextlib.suppress(FileNotFoundError):
                self._runs_file = os.open(self._runs_path, os.O_RDONLY | os.O_CLOEXEC)
        return self._runs_file

    def _bisect(self, field: int, value: int) -> int:
        def key(number: int) -> int:
            return int.from_bytes(os.pread(self._index, 8, number * RECORD_SIZE + field), _NATIVE)

        return bisect.bisect_left(range(self.count), value, key=key)

    def _read_record(self, number: int) -> Record | None:
        return unpack_record(os.pread(self._index, RECORD_SIZE, number * RECORD_SIZE))
