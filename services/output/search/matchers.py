"""Tell which lines of a stretch match: by text, by pattern, by stream, by level, or by several of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from services.output.levels import SEQUENCE, Level, level_of, marks
from services.output.model import Stream
from services.output.search.query import Filter, Query
from services.output.search.regex_process import RegexProcess
from services.output.spool.stretch import Stretch

_LEVEL_BYTES = 2000
_REGEX_BYTES = 64 * 1024
_NEWLINE = 10
_MANY = 100


class Matcher(ABC):
    """Finds lines in stretches that are handed over in the order of the spool."""

    @abstractmethod
    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """The numbers of the lines that match, rising; the line the stretch begins within may be among them.

        Raises:
            PinfoldError: It takes too long.
        """

    def stop(self) -> None:  # noqa: B027 - most have nothing to end
        """End what runs, from any thread; nothing matches any more."""


def matcher_for(*wanted: Query | Filter) -> Matcher:
    """The quickest way to find the lines that fit everything wanted."""
    parts = [part for each in wanted for part in _parts(each)]
    return parts[0] if len(parts) == 1 else AllMatcher(parts)


def _parts(wanted: Query | Filter) -> Iterator[Matcher]:
    if isinstance(wanted, Query):
        yield RegexMatcher(wanted) if wanted.regex else TextMatcher(wanted)
        return
    if wanted.streams != frozenset(Stream):
        yield StreamMatcher(wanted.streams)
    if wanted.query is not None:
        yield from _parts(wanted.query)
    if wanted.level is not None:
        yield LevelMatcher(wanted.level)


class TextMatcher(Matcher):
    """Lines that hold a text, however long they are."""

    def __init__(self, query: Query) -> None:
        text = query.pattern.encode("utf-8", errors="surrogatepass")
        self._ignore_case = query.ignore_case
        self._text = text.lower() if query.ignore_case else text
        self._tail = b""
        self._tail_at = -1

    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """Lines that hold the text."""
        data = stretch.data
        if b"\x1b" in data:
            data = SEQUENCE.sub(b"", data)
        if self._ignore_case:
            data = data.lower()
        found = _lines_with(self._text, data, stretch.line)
        overlap = len(self._text) - 1
        if overlap and self._tail_at == stretch.offset and stretch.continues and found[:1] != [stretch.line]:
            joint = self._tail + data[:overlap].partition(b"\n")[0]
            if self._text in joint:
                found.insert(0, stretch.line)
        if overlap and stretch.open:
            kept = self._tail + data if self._tail_at == stretch.offset else data
            self._tail, self._tail_at = kept[-overlap:].rpartition(b"\n")[2], stretch.end
        return found


class RegexMatcher(Matcher):
    """Lines in whose first 64 KiB (of a line that is longer: at least that) a regular expression is found."""

    def __init__(self, query: Query) -> None:
        self._process = RegexProcess(query.pattern, ignore_case=query.ignore_case)

    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """Lines the pattern is found in."""
        line, data = _starting(stretch)
        if b"\x1b" in data:
            data = SEQUENCE.sub(b"", data)
        found: list[int] = []
        position = 0
        while position < len(data):
            stop = data.rfind(b"\n", position, position + _REGEX_BYTES) + 1
            if not stop:
                stop = data.find(b"\n", position + _REGEX_BYTES) + 1 or len(data)
            part = data[position:stop]
            found += [line + number for number in self._process.matching_lines(part, line)]
            line += part.count(b"\n")
            position = stop
        return found

    def stop(self) -> None:
        """End the process."""
        self._process.stop()


class LevelMatcher(Matcher):
    """Lines at least so severe; only those that hold a tell-tale word are looked at one by one."""

    def __init__(self, least: Level) -> None:
        self._least = least
        self._marks = marks(least)

    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """Lines severe enough."""
        line, data = _starting(stretch)
        if b"\x1b" in data:
            data = SEQUENCE.sub(b"", data)
        found = []
        counted = 0
        for start in self._candidates(data):
            end = data.find(b"\n", start, start + _LEVEL_BYTES)
            level = level_of(data[start : end if end >= 0 else start + _LEVEL_BYTES])
            if level is not None and level >= self._least:
                line += data.count(b"\n", counted, start)
                counted = start
                found.append(line)
        return found

    def _candidates(self, data: bytes) -> list[int]:
        """Where lines start that may be severe enough."""
        low = b"\n" + data.lower()  # one byte further on than in `data`
        starts = set[int]()
        for mark in self._marks:
            at = low.find(mark)
            while at >= 0:
                starts.add(low.rfind(b"\n", 0, at + 1))
                following = low.find(b"\n", at + 1)
                at = low.find(mark, following) if following >= 0 else -1
        return sorted(starts)


class StreamMatcher(Matcher):
    """Lines of some streams."""

    def __init__(self, streams: frozenset[Stream]) -> None:
        self._streams = streams

    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """Lines of the streams."""
        wanted = {run.stream in self._streams for run in stretch.runs}
        if wanted == {False}:
            return ()
        if wanted == {True}:
            return range(stretch.line, stretch.next_line + (1 if stretch.open else 0))
        found: list[int] = []
        line = stretch.line
        for run, following in zip(stretch.runs, [*stretch.runs[1:], None], strict=True):
            end = following.start if following else len(stretch.data)
            newlines = stretch.data.count(b"\n", run.start, end)
            if run.stream in self._streams and not run.added:
                is_open = stretch.data[end - 1] != _NEWLINE
                found.extend(range(line, line + newlines + (1 if is_open else 0)))
            line += newlines
        return found


class AllMatcher(Matcher):
    """Lines that every one of several matchers finds; without any, all lines."""

    def __init__(self, parts: Sequence[Matcher]) -> None:
        self._parts = [StreamMatcher(frozenset(Stream)), *parts]

    def __call__(self, stretch: Stretch) -> Sequence[int]:
        """Lines all parts find."""
        found: Sequence[int] = range(0)
        for number, part in enumerate(self._parts):
            lines = part(stretch)
            found = lines if number == 0 else _in_both(found, lines)
            if not found:
                break
        return found

    def stop(self) -> None:
        """End what any part runs."""
        for part in self._parts:
            part.stop()


def _lines_with(text: bytes, data: bytes, line: int) -> list[int]:
    """The lines that hold a text, each once."""
    found: list[int] = []
    counted, at = 0, data.find(text)
    while at >= 0:
        line += data.count(b"\n", counted, at)
        found.append(line)
        counted = data.find(b"\n", at)
        if len(found) == _MANY:
            return found + _lines_with_many(text, data, counted, line)
        at = data.find(text, counted) if counted >= 0 else -1
    return found


def _lines_with_many(text: bytes, data: bytes, counted: int, line: int) -> list[int]:
    """The same, quicker where many lines match: from the line end at `counted` on, which ends this line."""
    wanted = text.decode("latin-1")
    lines = data[counted + 1 :].decode("latin-1").split("\n") if counted >= 0 else []
    return [number for number, each in enumerate(lines, line + 1) if wanted in each]


def _starting(stretch: Stretch) -> tuple[int, bytes]:
    """The lines that start in a stretch, with the number of the first."""
    data = stretch.data + stretch.more if stretch.more else stretch.data
    if not stretch.continues:
        return stretch.line, data
    newline = stretch.data.find(b"\n")
    return (stretch.line + 1, data[newline + 1 :]) if newline >= 0 else (stretch.line + 1, b"")


def _in_both(first: Sequence[int], second: Sequence[int]) -> Sequence[int]:
    if isinstance(first, range) and isinstance(second, range):
        return range(max(first.start, second.start), min(first.stop, second.stop))
    if isinstance(second, range):
        first, second = second, first
    wanted = first if isinstance(first, range) else frozenset(first)
    return [line for line in second if line in wanted]
