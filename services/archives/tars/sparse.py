"""Files with holes: where their bytes lie, and how a tar says so (the PAX form 1.0 of GNU tar)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

_MOST = 100_000
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class Extents:
    """Which stretches of a file hold bytes; all else are zeros.

    Attributes:
        size: Bytes of the file, holes included.
        stretches: Starts and lengths, in order.
    """

    size: int
    stretches: tuple[tuple[int, int], ...]

    @classmethod
    def whole(cls, size: int) -> Self:
        """A file without holes."""
        return cls(size, ((0, size),))

    @property
    def stored(self) -> int:
        """Bytes that are stored."""
        return sum(length for _, length in self.stretches)

    def pieces(self, most: int) -> Iterator[tuple[int, int]]:
        """Yield the stretches cut into pieces of at most `most` bytes."""
        for start, length in self.stretches:
            for at in range(start, start + length, most):
                yield at, min(most, start + length - at)

    def table(self) -> bytes:
        """What a member's bytes begin with: the stretches as text, filled up to whole blocks."""
        numbers = [len(self.stretches), *(number for stretch in self.stretches for number in stretch)]
        text = b"".join(b"%d\n" % number for number in numbers)
        return text + bytes(-len(text) % _BLOCK)

    def headers(self, path: str) -> dict[str, str]:
        """What a member's header says of it."""
        return {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.name": path,
            "GNU.sparse.realsize": str(self.size),
        }


def extents_of(descriptor: int, facts: os.stat_result) -> Extents | None:
    """Find the holes of a file; None when it has none to speak of.

    Raises:
        OSError: The file cannot be read.
    """
    if facts.st_blocks * _BLOCK >= facts.st_size:
        return None
    stretches: list[tuple[int, int]] = []
    at = 0
    while at < facts.st_size and len(stretches) < _MOST:
        start = _seek(descriptor, at, os.SEEK_DATA, facts.st_size)
        end = min(_seek(descriptor, start, os.SEEK_HOLE, facts.st_size), facts.st_size)
        if start < end:
            stretches.append((start, end - start))
        at = max(end, start)
    if at < facts.st_size or stretches == [(0, facts.st_size)]:
        return None
    return Extents(facts.st_size, (*stretches, (facts.st_size, 0)))


def _seek(descriptor: int, at: int, whence: int, end: int) -> int:
    if at >= end:
        return end
    try:
        return os.lseek(descriptor, at, whence)
    except OSError as error:
        if error.errno == errno.ENXIO:  # no bytes behind this place
            return end
        raise
