"""The program that runs one regular expression over lines; a file of its own that needs only the standard library.

Standard input and output carry blocks: a length of four bytes, big end first, and that many bytes. The first block in
is `i` or `-` (ignore case or not) and the pattern, answered with an empty one; every other one is lines, answered with
the numbers of those that match, four bytes each, counted from 0. A block that takes too long ends the program.
"""

from __future__ import annotations

import re
import signal
import struct
import sys
from typing import BinaryIO

_SECONDS_A_BLOCK = 5
_LINE_LIMIT = 64 * 1024
_PIECE = 4 * 1024

_OUTSIDE_LOOKS = re.compile(r"\(\?(?!:|P<|i\))|\\[AZBnNxu0r]|[*+?}]\+|[\x00-\x1f]")
"""What may find a match in a line alone and not among its neighbours."""
_LINE_END_TAKERS = re.compile(r"\[\^|\\[sWD]")
"""What may find a match that spans lines."""


class LineSearch:
    """Finds lines that match, as if each were searched alone.

    Where the pattern allows, many lines are searched at once and only where something was found is the line itself
    searched. Patterns that could run on over line ends get no more than a few lines at once.
    """

    def __init__(self, pattern: str, flags: int) -> None:
        self._search = re.compile(pattern, flags).search
        self._search_many = re.compile(pattern, flags | re.MULTILINE).search
        self._alone = _OUTSIDE_LOOKS.search(pattern) is not None
        self._spans = _LINE_END_TAKERS.search(pattern) is not None

    def matching(self, text: str) -> list[int]:
        """The numbers of the lines that match, counted from 0."""
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        if self._alone or len(text) > 2 * _LINE_LIMIT:
            lines = text.removesuffix("\n").split("\n")
            return [number for number, line in enumerate(lines) if self._search(line[:_LINE_LIMIT])]
        found: list[int] = []
        start = line = 0
        while start < len(text):
            stop = len(text)
            if self._spans and stop - start > _PIECE:
                stop = text.rfind("\n", start, start + _PIECE) + 1 or text.find("\n", start) + 1 or stop
            line = self._matching_in(text[start:stop], line, found)
            start = stop
        return found

    def _matching_in(self, text: str, line: int, found: list[int]) -> int:
        """Add the lines of a piece that match; returns the number of the line behind it."""
        start = 0
        while start < len(text) and (match := self._search_many(text, start)) is not None:
            begin = text.rfind("\n", start, match.start()) + 1 or start
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            line += text.count("\n", start, begin)
            if begin < len(text) and (match.end() <= end or self._search(text[begin:end])):
                found.append(line)
            line += 1 if end < len(text) else 0
            start = end + 1
        return line + text.count("\n", start)


def main() -> None:
    """Answer blocks until there are no more."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    setting = _read(source).decode("utf-8", "surrogatepass")
    search = LineSearch(setting[1:], re.IGNORECASE if setting[0] == "i" else 0)
    found: list[int] = []
    while True:
        sink.write(struct.pack(f">I{len(found)}I", 4 * len(found), *found))
        sink.flush()
        block = _read(source)
        signal.alarm(_SECONDS_A_BLOCK)
        found = search.matching(block.decode("utf-8", "replace"))
        signal.alarm(0)


def _read(source: BinaryIO) -> bytes:
    header = source.read(4)
    if len(header) < 4:
        raise SystemExit(0)
    return source.read(struct.unpack(">I", header)[0])


if __name__ == "__main__":
    main()
