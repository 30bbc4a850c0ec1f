"""A growing set of line numbers that knows the rank of each, in one bit a line."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import NamedTuple

_PAGE = 4096
_PAGE_BYTES = _PAGE // 8


class Mask(NamedTuple):
    """Some lines: bit n stands for line `start` + n."""

    start: int
    bits: int


def mask_of(lines: Sequence[int]) -> Mask:
    """Pack rising line numbers."""
    if not lines:
        return Mask(0, 0)
    start = lines[0]
    if isinstance(lines, range):
        return Mask(start, (1 << len(lines)) - 1)
    bits = bytearray((lines[-1] - start) // 8 + 1)
    for line in lines:
        bits[(line - start) >> 3] |= 1 << ((line - start) & 7)
    return Mask(start, int.from_bytes(bits, "little"))


class LineSet:
    """Line numbers, added in rising order.

    Lines of one page share a run of bits; how many lines come before each page is kept, so that a rank or the line of
    a rank takes microseconds however many there are.
    """

    def __init__(self) -> None:
        self._base = 0
        self._bits = bytearray()
        self._before = [0]

    def __len__(self) -> int:
        return self._before[-1]

    def add(self, mask: Mask) -> None:
        """Add lines, none lower than any added or cut off before."""
        start, bits = mask
        while bits:
            at = start - self._base
            page = at // _PAGE
            if at >= len(self._bits) * 8:
                self._grow(at)
            size = (page + 1) * _PAGE - at
            old = self._page(page)
            new = old | (bits & (1 << size) - 1) << (at - page * _PAGE)
            self._bits[page * _PAGE_BYTES : (page + 1) * _PAGE_BYTES] = new.to_bytes(_PAGE_BYTES, "little")
            self._before[-1] += (new ^ old).bit_count()
            start += size
            bits >>= size

    def truncate(self, line: int) -> None:
        """Remove this line and all higher ones."""
        at = max(0, line - self._base)
        page = at // _PAGE
        if at >= len(self._bits) * 8:
            return
        bits = self._page(page) & (1 << (at - page * _PAGE)) - 1
        self._bits[page * _PAGE_BYTES :] = bits.to_bytes(_PAGE_BYTES, "little")
        self._before[page + 1 :] = [self._before[page] + bits.bit_count()]

    def drop_before(self, line: int) -> None:
        """Remove all lines lower than this one."""
        at = line - self._base
        if at <= 0:
            return
        pages = min(at // _PAGE, len(self._bits) // _PAGE_BYTES)
        if pages:
            del self._bits[: pages * _PAGE_BYTES]
            del self._before[:pages]
            self._base += pages * _PAGE
            at -= pages * _PAGE
        if not self._bits:
            self._base = line // _PAGE * _PAGE
            self._before = [0]
            return
        first = self._page(0)
        kept = first >> at << at
        removed = self._before[0] + (first ^ kept).bit_count()
        if first != kept:
            self._bits[:_PAGE_BYTES] = kept.to_bytes(_PAGE_BYTES, "little")
        if removed:
            self._before = [0, *(count - removed for count in self._before[1:])]

    def rank(self, line: int) -> int:
        """How many lines of the set are lower than this one."""
        at = line - self._base
        if at <= 0:
            return 0
        page = at // _PAGE
        if page >= len(self._before) - 1:
            return len(self)
        return self._before[page] + (self._page(page) & (1 << (at - page * _PAGE)) - 1).bit_count()

    def lines(self, rank: int, count: int) -> list[int]:
        """The lines of this rank, counted from 0, and those behind it."""
        found: list[int] = []
        page = bisect.bisect_right(self._before, rank) - 1
        while len(found) < count and 0 <= page < len(self._before) - 1:
            base = self._base + page * _PAGE
            skip = rank + len(found) - self._before[page]
            found += [base + bit for bit in _bits_of(self._page(page))[skip : skip + count - len(found)]]
            page += 1
        return found

    def next(self, line: int) -> int | None:
        """The lowest line of the set above this one."""
        found = self.lines(self.rank(line + 1), 1)
        return found[0] if found else None

    def previous(self, line: int) -> int | None:
        """The highest line of the set below this one."""
        rank = self.rank(line)
        return self.lines(rank - 1, 1)[0] if rank else None

    def _page(self, page: int) -> int:
        return int.from_bytes(self._bits[page * _PAGE_BYTES : (page + 1) * _PAGE_BYTES], "little")

    def _grow(self, at: int) -> None:
        """Add empty pages so that there is a bit at `at`."""
        pages = at // _PAGE + 1 - len(self._bits) // _PAGE_BYTES
        self._bits.extend(bytes(pages * _PAGE_BYTES))
        self._before.extend([self._before[-1]] * pages)


def _bits_of(value: int) -> list[int]:
    """The positions of the bits that are set, rising."""
    found = []
    for start, byte in enumerate(value.to_bytes(_PAGE_BYTES, "little")):
        if byte:
            found += [start * 8 + bit for bit in range(8) if byte >> bit & 1]
    return found
