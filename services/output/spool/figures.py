"""What a spool says of itself: one small file, written in place."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path
from typing import NamedTuple, Self

_NAME = "figures"
_MAGIC = b"pinfold1"
_FIELDS = struct.Struct("=8s8Q")
_SUM = struct.Struct("=I")
_TRIES = 3


class Figures(NamedTuple):
    """What was dropped and lost, and whether all output is there.

    Attributes:
        complete: 1 when no more output will come.
        first_offset, first_line: Where the oldest output still kept begins.
        lost_lines, lost_bytes: What could not be written, noted in the output.
        pending_lines, pending_bytes: What could not be written and is not noted yet.
        pending_at: The offset where their note will stand.
    """

    complete: int = 0
    first_offset: int = 0
    first_line: int = 0
    lost_lines: int = 0
    lost_bytes: int = 0
    pending_lines: int = 0
    pending_bytes: int = 0
    pending_at: int = 0

    def with_pending(self, lines: int, size: int, at: int) -> Figures:
        """More could not be written; its note will stand at an offset."""
        return self._replace(
            pending_lines=self.pending_lines + lines, pending_bytes=self.pending_bytes + size, pending_at=at
        )

    def with_pending_noted(self) -> Figures:
        """The note of what could not be written stands in the output."""
        return self._replace(
            lost_lines=self.lost_lines + self.pending_lines,
            lost_bytes=self.lost_bytes + self.pending_bytes,
            pending_lines=0,
            pending_bytes=0,
        )


class FiguresFile:
    """The file of a spool's figures; writing it again needs no space on the disk.

    Raises:
        FileNotFoundError: It is not there, and is only to be read.
        OSError: It cannot be opened.
    """

    def __init__(self, directory: Path, *, writable: bool) -> None:
        flags = os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY
        self._descriptor = os.open(directory / _NAME, flags | os.O_CLOEXEC, 0o600)

    @classmethod
    def find(cls, directory: Path) -> Self | None:
        """Open it for reading; None when it is not there.

        Raises:
            OSError: It cannot be opened.
        """
        try:
            return cls(directory, writable=False)
        except FileNotFoundError:
            return None

    def read(self) -> Figures | None:
        """Read the figures; None when they are torn or were never written.

        Raises:
            OSError: The disk failed.
        """
        for _ in range(_TRIES):  # the writer may be changing them right now
            data = os.pread(self._descriptor, _FIELDS.size + _SUM.size, 0)
            fields = data[: _FIELDS.size]
            if len(data) > len(fields) and _SUM.pack(zlib.crc32(fields)) == data[len(fields) :]:
                return Figures._make(_FIELDS.unpack(fields)[1:])
        return None

    def write(self, figures: Figures) -> None:
        """Write the figures.

        Raises:
            OSError: The disk failed.
        """
        fields = _FIELDS.pack(_MAGIC, *figures)
        os.pwrite(self._descriptor, fields + _SUM.pack(zlib.crc32(fields)), 0)

    def sync(self) -> None:
        """Wait until the disk has them.

        Raises:
            OSError: The disk failed.
        """
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Free the file."""
        os.close(self._descriptor)
