"""Finds where a spool really ends and removes what a crash left behind it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from services.output.model import Stream
from services.output.spool.layout import (
    MORE,
    OPEN,
    RECORD_SIZE,
    RUN_SIZE,
    STREAM_BITS,
    Record,
    data_name,
    index_name,
    runs_name,
    segment_starts,
    unpack_record,
    unpack_runs,
)


class Tail(NamedTuple):
    """Where a spool ends.

    Attributes:
        start: The last segment; None when there is none.
        records: How many of its records are good.
        last: The last good one; None when the segment has none.
        last_stream: Who wrote the last byte.
        data_size: Bytes of the segment its good records tell of.
        unindexed: Bytes behind them.
    """

    start: int | None = None
    records: int = 0
    last: Record | None = None
    last_stream: Stream = Stream.STDOUT
    data_size: int = 0
    unindexed: int = 0

    @property
    def end(self) -> int:
        """The offset behind the last byte that counts."""
        return (self.start or 0) + self.data_size

    @property
    def open_stream(self) -> Stream | None:
        """Whose line the last byte leaves open."""
        return self.last_stream if self.last is not None and self.last.flags & OPEN else None


def repair(directory: Path, first_offset: int, *, keep_unindexed: bool) -> Tail:
    """Cut torn records, and data no record tells of unless it is to be kept; remove segments that were dropped.

    Args:
        directory: The spool's.
        first_offset: Where the oldest output still kept begins.
        keep_unindexed: Leave data behind the last good record where it is.

    Raises:
        OSError: The files cannot be read or changed.
    """
    starts = segment_starts(directory)
    kept = [start for start in starts if start >= first_offset] or starts[-1:]
    _remove_strays(directory, kept)
    while kept:
        tail = _tail(directory, kept[-1], keep_unindexed=keep_unindexed)
        if tail.last is not None or (tail.unindexed and keep_unindexed) or len(kept) == 1:
            _cut(directory, tail, keep_unindexed=keep_unindexed)
            return tail
        remove_segment(directory, kept.pop())
    return Tail()


def remove_segment(directory: Path, start: int) -> None:
    """Remove a segment's files; the index first, since it makes the others a segment."""
    for name in (index_name(start), data_name(start), runs_name(start)):
        (directory / name).unlink(missing_ok=True)


def _remove_strays(directory: Path, kept: list[int]) -> None:
    names = {name(start) for start in kept for name in (data_name, index_name, runs_name)}
    for path in list(directory.iterdir()):
        if path.suffix in (".out", ".index", ".runs") and path.stem.isdigit() and path.name not in names:
            path.unlink(missing_ok=True)


def _tail(directory: Path, start: int, *, keep_unindexed: bool) -> Tail:
    size = _size(directory / data_name(start))
    runs_size = _size(directory / runs_name(start))
    descriptor = os.open(directory / index_name(start), os.O_RDONLY | os.O_CLOEXEC)
    try:
        for count in range(os.fstat(descriptor).st_size // RECORD_SIZE, 0, -1):
            record = unpack_record(os.pread(descriptor, RECORD_SIZE, (count - 1) * RECORD_SIZE))
            if record is None or record.offset < start or record.end > start + size:
                continue
            if record.flags & MORE and not keep_unindexed:
                continue
            if (record.runs_at + record.runs_count) * RUN_SIZE > runs_size:
                continue
            stream = _last_stream(directory, start, record)
            if stream is not None:
                data_size = record.end - start
                return Tail(start, count, record, stream, data_size, size - data_size)
    finally:
        os.close(descriptor)
    return Tail(start, unindexed=size)


def _last_stream(directory: Path, start: int, record: Record) -> Stream | None:
    if not record.mixed:
        code = record.flags & STREAM_BITS
        return Stream(code) if code in set(Stream) else None
    with (directory / runs_name(start)).open("rb") as file:
        file.seek(record.runs_at * RUN_SIZE)
        runs = unpack_runs(file.read(record.runs_count * RUN_SIZE), record.length)
    return runs[-1].stream if runs else None


def _cut(directory: Path, tail: Tail, *, keep_unindexed: bool) -> None:
    if tail.start is None:
        return
    os.truncate(directory / index_name(tail.start), tail.records * RECORD_SIZE)
    if tail.unindexed and not keep_unindexed:
        os.truncate(directory / data_name(tail.start), tail.data_size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
