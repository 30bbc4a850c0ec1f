"""Where in a TOML file its keys and values stand.

`tomllib` says where a file stops being TOML, but not where a value is that turns out to be wrong; this reads the
same text once more, only when there is something to point at.
"""

from __future__ import annotations

import codecs
import contextlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import msgspec

from services.agents.problems import KeyPath

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_KEY = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+')
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")|\'\'\'.*?\'{3,5}(?!\')|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'',
    re.DOTALL,
)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")  # a date and its time may be apart


class Place(msgspec.Struct, frozen=True):
    """Where a key and its value stand.

    Attributes:
        line: Of the key, or of the item in a list; counted from 1.
        last_line: The line on which the value ends.
        start: Where the value begins, in characters from 0.
        end: Where it has ended; the same as `start` for a table that is not written as a value.
        header: It is a `[table]` line.
    """

    line: int
    last_line: int
    start: int = 0
    end: int = 0
    header: bool = False


class Entry(msgspec.Struct, frozen=True):
    """A `key = value`, or a `[table]` or `[[table]]` line.

    Attributes:
        table: The table it is written in, by a header above it or in braces; of a header, ().
        path: The whole way to what it names.
        start: Where its first key, or its bracket, begins; in characters from 0.
        end: Where its value, or its last bracket, has ended.
    """

    table: KeyPath
    path: KeyPath
    start: int
    end: int
    header: bool = False


class Layout(msgspec.Struct, frozen=True):
    """How a TOML text is written.

    Attributes:
        places: Where every key, table and list item stands.
        entries: In order of where they end, so that what is in braces comes before the key of the braces.
    """

    places: Mapping[KeyPath, Place]
    entries: Sequence[Entry]


def find_places(source: str) -> Mapping[KeyPath, Place]:
    """Find where every key, table and list item of a TOML text stands.

    Args:
        source: Without BOM. Text that is not TOML gives the places found before the fault, and never an error.
    """
    return find_layout(source).places


@lru_cache(maxsize=8)
def find_layout(source: str) -> Layout:
    """Find where everything stands, and how it is written there; the last few answers are kept.

    Args:
        source: As for `find_places`.
    """
    reader = _Reader(source)
    with contextlib.suppress(_Fault, tomllib.TOMLDecodeError, RecursionError):
        reader.read()
    return Layout(MappingProxyType(reader.places), tuple(reader.entries))


@lru_cache(maxsize=512)
def places_in(data: bytes) -> Mapping[KeyPath, Place]:
    """Find where everything stands in the bytes of a TOML file; the last few hundred answers are kept."""
    return find_places(data.removeprefix(codecs.BOM_UTF8).decode("utf-8", errors="replace"))


def line_finder(data: bytes) -> Callable[[KeyPath], int]:
    """Make a look-up of lines in the bytes of a TOML file."""
    return lambda key: line_of(key, places_in(data))


def key_finder(data: bytes) -> Callable[[KeyPath], bool]:
    """Make a look-up of whether a key is written in the bytes of a TOML file."""
    return lambda key: key in places_in(data)


def line_of(path: KeyPath, places: Mapping[KeyPath, Place]) -> int:
    """The line of a key, else of the nearest table around it, else 0."""
    while path:
        if path in places:
            return places[path].line
        path = path[:-1]
    return 0


class _Fault(Exception):
    """The text is not TOML here."""


class _Reader:
    def __init__(self, source: str) -> None:
        self.places: dict[KeyPath, Place] = {}
        self.entries: list[Entry] = []
        self._source = source
        self._at = 0
        self._line = 1
        self._table: KeyPath = ()
        self._lists: dict[KeyPath, int] = {}  # the last item of each [[table]], counted from 0

    def read(self) -> None:
        self._skip(_BLANK)
        while self._at < len(self._source):
            if self._peek() == "[":
                self._header()
            else:
                self._entry(self._table)
            self._skip(_BLANK)

    def _header(self) -> None:
        line, start = self._line, self._at
        repeated = self._source.startswith("[[", self._at)
        self._expect("[[" if repeated else "[")
        keys = self._keys()
        self._expect("]]" if repeated else "]")
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._last_item((*path, key))
            self.places.setdefault(path, Place(line, line))
        path = (*path, keys[-1])
        if repeated:
            self.places.setdefault(path, Place(line, line))
            self._lists[path] = self._lists.get(path, -1) + 1
        self._table = self._last_item(path)
        self.places[self._table] = Place(line, line, header=True)
        self.entries.append(Entry((), self._table, start, self._at, header=True))

    def _last_item(self, path: KeyPath) -> KeyPath:
        return (*path, self._lists[path]) if path in self._lists else path

    def _entry(self, table: KeyPath) -> None:
        line, start = self._line, self._at
        keys = self._keys()
        path = table
        for key in keys[:-1]:
            path = (*path, key)
            self.places.setdefault(path, Place(line, line))
        self._expect("=")
        self._skip(_SPACE)
        path = (*path, keys[-1])
        self._value(path, line)
        self.entries.append(Entry(table, path, start, self._at))

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._skip(_SPACE)
            text = self._take(_KEY)
            keys.append(tomllib.loads(f"key = {text}")["key"] if text[:1] in ("'", '"') else text)
            self._skip(_SPACE)
            if self._peek() != ".":
                return keys
            self._expect(".")

    def _value(self, path: KeyPath, line: int) -> None:
        start = self._at
        match self._peek():
            case "[":
                self._list(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._take(_STRING)
            case _:
                self._take(_SCALAR)
        self.places.setdefault(path, Place(line, self._line, start, self._at))

    def _list(self, path: KeyPath) -> None:
        self._expect("[")
        number = 0
        while not self._ends("]"):
            self._value((*path, number), self._line)
            number += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._expect("{")
        while not self._ends("}"):
            self._entry(path)

    def _ends(self, bracket: str) -> bool:
        """Go on to the next item of a list or table; whether it ends instead."""
        self._skip(_BLANK)
        if self._peek() == ",":
            self._expect(",")
            self._skip(_BLANK)
        if self._peek() == bracket:
            self._expect(bracket)
            return True
        return False

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _expect(self, text: str) -> None:
        if not self._source.startswith(text, self._at):
            raise _Fault
        self._at += len(text)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        self._move(pattern.match(self._source, self._at))

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._source, self._at)
        if not found or not found[0]:
            raise _Fault
        self._move(found)
        return found[0]

    def _move(self, found: re.Match[str] | None) -> None:
        if found:
            self._line += found[0].count("\n")
            self._at = found.end()
