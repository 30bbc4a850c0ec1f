"""Appends a session's output to its spool."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from services.errors import SpoolError
from services.home import FileLock
from services.output.model import Chunk, Cursor, Stream
from services.output.spool.blocks import Block, BlockCutter, Piece, portions
from services.output.spool.figures import Figures, FiguresFile
from services.output.spool.held import HeldLines
from services.output.spool.layout import (
    BLOCK_LIMIT,
    LOCK_NAME,
    Record,
    data_name,
    pack_record,
    pack_runs,
    segment_starts,
)
from services.output.spool.losses import UNKNOWN, loss_text, reason_of
from services.output.spool.repair import Tail, repair
from services.output.spool.retention import Retention
from services.output.spool.segment_writer import SegmentWriter

_RETRY_NANOSECONDS = 1_000_000_000
_NOTES_KEPT = 50


class SpoolWriter:
    """The one writer of a session's output; use it from one thread at a time.

    Attributes:
        cursor: Where the source must resume. On disk it changes together with the data it belongs to.
    """

    def __init__(
        self,
        directory: Path,
        lock: FileLock,
        figures_file: FiguresFile,
        figures: Figures,
        tail: Tail,
        limit: int,
        now: Callable[[], int],
    ) -> None:
        self._directory = directory
        self._lock = lock
        self._retention = Retention(directory, limit)
        self._now = now
        self._figures_file = figures_file
        self._figures = figures
        self._figures_stale = False
        self._held = HeldLines()
        self._notes: list[Piece] = []
        self._last = tail.last
        self._end = tail.end
        self._line = self._figures.first_line if tail.last is None else tail.last.next_line
        self._open_stream = tail.open_stream
        self._segment: SegmentWriter | None = None
        self._loss_reason = UNKNOWN
        self._tried_at = 0
        self.cursor = Cursor() if tail.last is None else tail.last.cursor

    @classmethod
    def open(
        cls, directory: Path, *, limit: int, keep_unindexed: bool, now: Callable[[], int] = time.time_ns
    ) -> SpoolWriter:
        """Open a spool for writing; makes it when missing, and repairs what a crash left.

        Args:
            directory: The spool's own.
            limit: Bytes kept on disk; beyond them the oldest output is dropped.
            keep_unindexed: Keep bytes that were written but not yet vouched for by the index. False for a source
                that sends them again from the cursor.
            now: Nanoseconds since 1970.

        Raises:
            LockHeld: Another process writes it.
            SpoolError: It cannot be opened.
        """
        with contextlib.ExitStack() as opened:
            try:
                directory.mkdir(parents=True, exist_ok=True, mode=0o700)
                lock = FileLock(directory / LOCK_NAME, "the session's output")
                opened.enter_context(lock)
                figures_file = FiguresFile(directory, writable=True)
                opened.callback(figures_file.close)
                figures = figures_file.read() or Figures()
                tail = repair(directory, figures.first_offset, keep_unindexed=keep_unindexed)
                writer = cls(directory, lock, figures_file, figures, tail, limit, now)
                opened.callback(writer._close_segment)
                writer._resume(tail, keep_unindexed=keep_unindexed)
            except OSError as error:
                raise SpoolError(f"cannot write output to {directory}", why=reason_of(error)) from error
            opened.pop_all()
            return writer

    @property
    def lines_lost(self) -> int:
        """Lines that could not be written."""
        return self._figures.lost_lines + self._figures.pending_lines

    @property
    def bytes_lost(self) -> int:
        """Bytes that could not be written."""
        return self._figures.lost_bytes + self._figures.pending_bytes

    @property
    def lines_dropped(self) -> int:
        """Lines dropped to keep to the limit."""
        return self._figures.first_line

    @property
    def bytes_dropped(self) -> int:
        """Bytes dropped to keep to the limit."""
        return self._figures.first_offset

    @property
    def size(self) -> int:
        """Bytes of output written so far, dropped ones included."""
        return self._end

    @property
    def lines_written(self) -> int:
        """Lines that have ended, dropped ones included."""
        return self._line

    def append(self, chunks: Sequence[Chunk], cursor: Cursor | None = None) -> None:
        """Take in what the source sent.

        A disk that cannot be written loses output but raises nothing: the loss is counted, and noted in the output
        once there is space again.

        Args:
            chunks: In the order they came. Without a cursor, a line that has not ended waits for its end or `flush`.
            cursor: Where the source stands behind them: all of them are written at once, together with it.
        """
        pieces = list(self._held.take(chunks))
        if cursor is None:
            for portion in portions(pieces):
                self._write(portion)
        else:
            pieces += self._held.release()
            self.cursor = cursor
            self._write(pieces)

    def flush(self) -> None:
        """Write what waits for its line's end; call it when the source has been silent for a moment, and at its end."""
        self._write(self._held.release())

    def note(self, text: str) -> None:
        """Add a remark of Pinfold's own, as a line of the stream NOTE."""
        line = " ".join(text.split())
        self._write([Piece(Stream.NOTE, line.encode(errors="replace") + b"\n", self._now())])

    def finish(self) -> None:
        """Mark the output complete and wait until the disk has it.

        Raises:
            SpoolError: The disk failed.
        """
        self._write(self._held.release(), patient=False)
        self._figures = self._figures._replace(complete=1)
        self._save_figures()
        try:
            if self._segment is not None:
                self._segment.sync()
            self._figures_file.sync()
        except OSError as error:
            raise SpoolError("the output may not be whole on disk", why=reason_of(error)) from error

    def close(self) -> None:
        """Write what waits and give the spool back."""
        if self._lock.held:
            self._write(self._held.release(), patient=False)
            self._close_segment()
            self._figures_file.close()
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _resume(self, tail: Tail, *, keep_unindexed: bool) -> None:
        """Go on where the spool ends: open its last segment, settle what was pending, index what was kept.

        Raises:
            OSError: A file cannot be opened or written.
        """
        if tail.start is not None:
            self._segment = SegmentWriter(self._directory, tail.start, tail.data_size, tail.records, fresh=False)
            for start in segment_starts(self._directory):
                if start != tail.start:
                    self._retention.add(start)
        oldest = self._retention.oldest
        if oldest is not None and oldest > self._figures.first_offset:  # the figures were torn
            first_line = self._retention.first_line(oldest)
            self._figures = self._figures._replace(first_offset=oldest, first_line=first_line)
        if self._end > self._figures.pending_at:
            self._figures = self._figures.with_pending_noted()
        elif not keep_unindexed:
            self._figures = self._figures._replace(pending_lines=0, pending_bytes=0)
        self._save_figures()
        if tail.unindexed and keep_unindexed and tail.start is not None:
            self._index_kept(tail)

    def _close_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None

    def _index_kept(self, tail: Tail) -> None:
        """Write kept bytes once more where they lie, this time with records."""
        with (self._directory / data_name(tail.start or 0)).open("rb") as file:
            file.seek(tail.data_size)
            while portion := file.read(BLOCK_LIMIT):
                self._commit([Piece(tail.last_stream, portion, self._now())], roll=False)

    def _write(self, pieces: list[Piece], *, patient: bool = True) -> None:
        """Write pieces, or count them as lost.

        Args:
            pieces: In order.
            patient: After a failure wait a second before the disk is tried again.

        Raises:
            SpoolError: The spool was closed.
        """
        if not self._lock.held:
            raise SpoolError("cannot write output", why="its spool is closed")
        pending = self._figures.pending_bytes
        behind = bool(pending or self._notes)
        if behind and patient and self._now() - self._tried_at < _RETRY_NANOSECONDS:
            self._lose(pieces)
            return
        notes = [self._loss_note(), *self._notes] if pending else self._notes
        if not (pieces or notes):
            return
        try:
            self._commit(notes + pieces)
        except OSError as error:
            self._tried_at = self._now()
            self._loss_reason = reason_of(error)
            self._lose(pieces)
            return
        self._notes = []
        if pending:
            self._figures = self._figures.with_pending_noted()
        if pending or self._figures.complete or self._figures_stale:
            self._figures = self._figures._replace(complete=0)
            self._save_figures()

    def _commit(self, pieces: Iterable[Piece], *, roll: bool = True) -> None:
        """Write pieces with their records.

        Raises:
            OSError: Nothing was written.
        """
        segment = self._segment_to_fill(roll=roll)
        first = segment.size == 0
        last = None if first or self._last is None else Block.reopen(self._last)
        cutter = BlockCutter(self._end, self._line, self._open_stream, last)
        for piece in pieces:
            cutter.add(piece)
        if not cutter.blocks:
            return
        records, runs = self._records(cutter, segment.runs_count)
        segment.commit(
            b"".join(cutter.parts),
            runs,
            b"".join(pack_record(record) for record in records),
            replace_last=cutter.blocks[0] is last,
        )
        self._last = records[-1]
        self._end, self._line, self._open_stream = cutter.end, cutter.line, cutter.open_stream
        if first:
            self._drop_oldest(segment.start)

    def _records(self, cutter: BlockCutter, runs_count: int) -> tuple[list[Record], bytes]:
        records, runs = [], []
        for block, following in zip(cutter.blocks, [*cutter.blocks[1:], None], strict=True):
            is_open = following.continues if following else cutter.open_stream is not None
            records.append(block.record(self.cursor, runs_count, is_open=is_open, more=following is not None))
            if not block.plain:
                runs_count += len(block.runs)
                runs.append(pack_runs(block.runs))
        return records, b"".join(runs)

    def _segment_to_fill(self, *, roll: bool) -> SegmentWriter:
        """The last segment, or a new one when there is none or the last is full.

        Raises:
            OSError: It cannot be made.
        """
        full = self._segment
        if full is not None and (full.size < self._retention.segment_size or not roll):
            return full
        if full is not None:
            full.settle()
        self._segment = SegmentWriter(self._directory, self._end, fresh=True)
        if full is not None:
            self._retention.add(full.start, full.size)
            full.close()
        return self._segment

    def _drop_oldest(self, filling: int) -> None:
        """Drop what has no room beside the segment being filled; put off while that cannot be written down."""
        kept = self._retention.first_kept(filling)
        if kept <= self._figures.first_offset:
            return
        try:
            line = self._retention.first_line(kept)
        except OSError:
            return
        self._figures = self._figures._replace(first_offset=kept, first_line=line)
        if self._save_figures():
            self._retention.remove_before(kept)

    def _lose(self, pieces: list[Piece]) -> None:
        self._notes += [piece for piece in pieces if piece.stream is Stream.NOTE]
        del self._notes[:-_NOTES_KEPT]
        lost = [piece.data for piece in pieces if piece.stream is not Stream.NOTE]
        if lost:
            lines, size = sum(data.count(b"\n") for data in lost), sum(map(len, lost))
            self._figures = self._figures.with_pending(lines, size, self._end)
            self._save_figures()

    def _loss_note(self) -> Piece:
        text = loss_text(self._figures.pending_lines, self._figures.pending_bytes, self._loss_reason)
        return Piece(Stream.NOTE, text.encode() + b"\n", self._now())

    def _save_figures(self) -> bool:
        """Write the figures in place, which needs no space; a failure is made up for by the next save."""
        try:
            self._figures_file.write(self._figures)
        except OSError:
            self._figures_stale = True
            return False
        self._figures_stale = False
        return True
