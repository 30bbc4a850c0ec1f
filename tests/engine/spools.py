"""A spool for the tests, and what lies in it."""

from __future__ import annotations

from pathlib import Path

from services.output import SpoolReader, SpoolWriter, Stream

EVERYTHING = 100_000_000


class Spool:
    """A spool that is written by a follower and read by a test.

    Args:
        directory: The spool's own.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.writer = self._open()

    def reopen(self) -> SpoolWriter:
        """Close and open it, as the next Pinfold does."""
        self.writer.close()
        self.writer = self._open()
        return self.writer

    def close(self) -> None:
        self.writer.close()

    def lines(self, *streams: Stream) -> list[bytes]:
        """Every line of these streams, without line ends; of all streams when none is named."""
        self.writer.flush()
        reader = SpoolReader.open(self.directory)
        try:
            found = reader.lines(reader.first, EVERYTHING, cut=EVERYTHING)
            return [line.data for line in found if not streams or line.stream in streams]
        finally:
            reader.close()

    @property
    def stdout(self) -> list[bytes]:
        return self.lines(Stream.STDOUT)

    @property
    def stderr(self) -> list[bytes]:
        return self.lines(Stream.STDERR)

    @property
    def notes(self) -> list[bytes]:
        return self.lines(Stream.NOTE)

    def _open(self) -> SpoolWriter:
        return SpoolWriter.open(self.directory, limit=1 << 30, keep_unindexed=False)
