"""All segments of a spool as one run of blocks and one run of bytes."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from services.output.spool.layout import BLOCK_LIMIT, CONTINUES, OPEN, Record, Run, segment_starts
from services.output.spool.segment import Segment
from services.output.spool.stretch import Stretch


class Place(NamedTuple):
    """Where a block is: which segment, which record of it. Good until the next refresh."""

    segment: int
    record: int


class Block(NamedTuple):
    """A block with its bytes."""

    place: Place
    record: Record
    data: bytes


class Segments:
    """The segments of a spool, oldest first; they follow one another without a gap.

    Args:
        directory: The spool's; need not exist yet.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._all: list[Segment] = []

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def first(self) -> Record:
        """The oldest record; there must be one."""
        return self._all[0].first

    @property
    def last(self) -> Record:
        """The newest record; there must be one."""
        return self._all[-1].last

    def close(self) -> None:
        """Free the files."""
        for segment in self._all:
            segment.close()
        self._all = []

    def refresh(self, first_offset: int) -> None:
        """Take in what was written, and let go of segments that were dropped.

        Args:
            first_offset: Where the oldest output still kept begins.

        Raises:
            SpoolError: A file cannot be read.
            OSError: The directory cannot be listed.
        """
        if self._all:
            self._all[-1].refresh()
        if not self._all or self._all[-1].removed or not self._all[-1].count:
            self._match_directory(first_offset)
        while self._all and (following := Segment.open(self._directory, self.last.end)):
            self._all.append(following)
        while len(self._all) > 1 and self._all[0].start < first_offset:
            self._all.pop(0).close()

    def _match_directory(self, first_offset: int) -> None:
        """Hold the segments that are there; keeps what is held when the whole spool was removed."""
        starts = segment_starts(self._directory) if self._directory.is_dir() else []
        if not starts:
            return
        known = {segment.start: segment for segment in self._all}
        self._all = []
        for start in starts:
            segment = known.pop(start, None)
            if segment is not None:
                segment.refresh()
                if segment.removed or not segment.count:
                    segment.close()
                    segment = None
            segment = segment or Segment.open(self._directory, start)
            if segment is None:
                continue
            if self._all and (start <= first_offset or self.last.end != start):
                self.close()
            self._all.append(segment)
        for segment in known.values():
            segment.close()

    def record(self, place: Place) -> Record:
        """The record at a place.

        Raises:
            SpoolError: It is damaged.
        """
        return self._all[place.segment].record(place.record)

    def runs(self, block: Block) -> list[Run]:
        """Whose bytes a block holds.

        Raises:
            SpoolError: They are damaged.
        """
        return self._all[block.place.segment].runs(block.record)

    def read(self, offset: int, size: int) -> bytes:
        """Bytes from an offset on, across segments; fewer where the output ends."""
        parts = []
        number = bisect.bisect_right(self._all, offset, key=lambda segment: segment.start) - 1
        while size > 0 and 0 <= number < len(self._all):
            part = self._all[number].data(offset, size)
            parts.append(part)
            offset += len(part)
            size -= len(part)
            number += 1
        return b"".join(parts)

    def blocks(self, start: Place | None) -> Iterator[Block]:
        """All blocks from a place on, several small ones read at once.

        Raises:
            SpoolError: One is damaged.
        """
        while start is not None:
            segment, number = start
            records, data = self._all[segment].blocks(number, BLOCK_LIMIT)
            base = records[0].offset
            for record in records:
                start = Place(segment, number)
                yield Block(start, record, data[record.offset - base : record.end - base])
                number += 1
            start = self.after(start)

    def stretches(self, offset: int, size: int, look_ahead: int) -> Iterator[Stretch]:
        """All output from an offset on, in large pieces that start where a block does.

        Args:
            offset: The first byte wanted.
            size: About how many bytes a piece has.
            look_ahead: How far a piece follows a line that goes on behind it.

        Raises:
            SpoolError: A block is damaged.
        """
        place = self.at_offset(max(offset, self.first.offset)) if self._all else None
        while place is not None:
            segment = self._all[place.segment]
            records, data = segment.blocks(place.record, size)
            first = records[0]
            runs = [
                run._replace(start=run.start + record.offset - first.offset)
                for record in records
                for run in segment.runs(record)
            ]
            more = self._line_rest(records[-1], look_ahead)
            continues = bool(first.flags & CONTINUES)
            next_line = records[-1].next_line
            stretch = Stretch(first.offset, first.line, next_line, continues, data, more, tuple(runs))
            yield stretch.behind(offset) if offset > first.offset else stretch
            place = self.after(Place(place.segment, place.record + len(records) - 1))

    def _line_rest(self, last: Record, limit: int) -> bytes:
        if not last.flags & OPEN:
            return b""
        rest = self.read(last.end, limit)
        return rest[: rest.find(b"\n") + 1] or rest

    def after(self, place: Place) -> Place | None:
        """The place of the next block; None behind the last."""
        if place.record + 1 < self._all[place.segment].count:
            return Place(place.segment, place.record + 1)
        return Place(place.segment + 1, 0) if place.segment + 1 < len(self._all) else None

    def before(self, place: Place | None) -> Place | None:
        """The place of the block before, or of the last one before the end (None); None before the first."""
        segment, record = place or Place(len(self._all), 0)
        if record > 0:
            return Place(segment, record - 1)
        return Place(segment - 1, self._all[segment - 1].count - 1) if segment > 0 else None

    def starting(self, line: int) -> Place | None:
        """The block in which a line starts; the first of all when its beginning was dropped."""
        found = self._from_line(line)
        if found is not None:
            record = self.record(found)
            if record.line == line and not record.flags & CONTINUES:
                return found
        return self.before(found) or found

    def ending(self, line: int) -> Place | None:
        """The block in which a line ends; None when it has not ended."""
        found = self.before(self._from_line(line + 1))
        return found if found is not None and self.record(found).next_line > line else None

    def at_offset(self, offset: int) -> Place | None:
        """The block that holds the byte at an offset; None behind the end."""
        if not self._all or not self._all[0].start <= offset < self.last.end:
            return None
        segment = bisect.bisect_right(self._all, offset, key=lambda segment: segment.start) - 1
        return self.before(Place(segment, self._all[segment].first_from_offset(offset + 1)))

    def from_time(self, at: int) -> Place | None:
        """The first block with output of this time or later; None when there is none."""
        segment = bisect.bisect_left(self._all, at, key=lambda segment: segment.last.until)
        return Place(segment, self._all[segment].first_from_time(at)) if segment < len(self._all) else None

    def _from_line(self, line: int) -> Place | None:
        """The first block whose first byte belongs to this line or a later one; None when none does."""
        segment = bisect.bisect_left(self._all, line, key=lambda segment: segment.first.line)
        if segment > 0:
            record = self._all[segment - 1].first_from_line(line)
            if record < self._all[segment - 1].count:
                return Place(segment - 1, record)
        return Place(segment, 0) if segment < len(self._all) else None
