"""A list as TOML text with other entries: what stays keeps its comments, and what is new follows the style."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from services.agents.rendering import rendered
from services.agents.values import Value, identity

_UP_TO_COMMA = re.compile(r"((?:[^,#]|#[^\n]*+)*+),")
_COMMENT_BESIDE = re.compile(r"[ \t]*#[^\r\n]*")
_LAST_SPACE = re.compile(r"(?:\r?\n)?[ \t]*$")
_LOOSE = re.compile(r".*\n[ \t]*(?=\r?\n)", re.DOTALL)
_USUAL_INDENT = "    "


@dataclass(frozen=True)
class _Entry:
    """One entry of a list with the text that goes where it goes.

    Attributes:
        lead: Spaces, line ends and comments before it, but no comment beside what is before it.
        text: Its value.
        behind: What stands between the value and its comma, mostly nothing.
        beside: The comment behind it on the same line.
        place: Where it stood, from 0; None for a new one.
    """

    lead: str
    text: str
    behind: str = ""
    beside: str = ""
    place: int | None = None

    @property
    def loose(self) -> str:
        """The comments above it that a blank line keeps apart from it."""
        found = _LOOSE.match(self.lead)
        return found[0] if found and "#" in found[0] else ""


@dataclass(frozen=True)
class _Written:
    """A list as it is written.

    Attributes:
        opening: The bracket with the comment beside it.
        entries: In order.
        comma: Whether one stands behind the last entry.
        tail: Everything from there to the closing bracket.
        line_end: What ends lines.
    """

    opening: str
    entries: tuple[_Entry, ...]
    comma: bool
    tail: str
    line_end: str

    @property
    def first_lead(self) -> str:
        """The space before a first entry."""
        return _last_space(self.entries[0].lead) if self.entries else self._lead_in_empty

    @property
    def next_lead(self) -> str:
        """The space before any other entry."""
        if len(self.entries) > 1:
            return _last_space(self.entries[-1].lead)
        return self.first_lead if "\n" in self.first_lead else " "

    @property
    def _lead_in_empty(self) -> str:
        if "\n" not in self.tail and "#" not in self.opening:
            return ""
        return self.line_end + _last_space(self.tail).strip("\r\n") + _USUAL_INDENT


def relisted(text: str, spans: Sequence[tuple[int, int]], old: Sequence[Any], new: Sequence[Value]) -> str:
    """Write a list anew.

    Args:
        text: The list as it is written, with its brackets.
        spans: Where each entry begins and has ended, in characters of `text`.
        old: The entries' values.
        new: The values the list is to have.
    """
    written = _read(text, spans)
    kept, dropped = _kept(written.entries, old, new)
    literal = bool(written.entries) and all(entry.text.startswith("'") for entry in written.entries)
    entries = [entry or _Entry("", rendered(value, literal=literal)) for entry, value in zip(kept, new, strict=True)]
    return "".join(_composed(written, entries, dropped))


def _read(text: str, spans: Sequence[tuple[int, int]]) -> _Written:
    opening, at = _with_comment_beside(text, 1)
    entries: list[_Entry] = []
    comma = False
    for number, (start, end) in enumerate(spans):
        lead = text[at:start]
        stop = spans[number + 1][0] if number + 1 < len(spans) else len(text) - 1
        found = _UP_TO_COMMA.match(text, end, stop)
        comma = found is not None
        behind = found[1] if found else ""
        beside, at = _with_comment_beside(text, found.end() if found else end, "")
        entries.append(_Entry(lead, text[start:end], behind, beside, number))
    line_end = "\r\n" if "\r\n" in text else "\n"
    tail = text[at:-1]
    if not entries and "\n" not in tail:
        tail = ""
    return _Written(opening, tuple(entries), comma if entries else "\n" in tail, tail, line_end)


def _with_comment_beside(text: str, at: int, before: str = "[") -> tuple[str, int]:
    found = _COMMENT_BESIDE.match(text, at)
    return (before + found[0], found.end()) if found else (before, at)


def _kept(
    entries: Sequence[_Entry], old: Sequence[Any], new: Sequence[Value]
) -> tuple[list[_Entry | None], list[_Entry]]:
    """Which entry each new value had before, if any, and which entries no value has any more."""
    left: dict[str, deque[_Entry]] = {}
    for entry, value in zip(entries, old, strict=True):
        left.setdefault(identity(value), deque()).append(entry)
    kept: list[_Entry | None] = []
    for value in new:
        held = left.get(identity(value))
        kept.append(held.popleft() if held else None)
    dropped = [entry for held in left.values() for entry in held]
    return kept, sorted(dropped, key=lambda entry: entry.place or 0)


def _composed(written: _Written, entries: Sequence[_Entry], dropped: Sequence[_Entry]) -> Iterator[str]:
    yield written.opening
    above = written.opening
    stranded = {entry.place: entry.loose for entry in dropped if entry.loose}
    for number, entry in enumerate(entries):
        lead = _lead(written, entry, number)
        if entry.place is not None:
            lead = _taken(stranded, before=entry.place) + lead
        if "#" in above and not lead.lstrip(" \t").startswith(("\n", "\r\n")):
            lead = written.line_end + (written.next_lead.strip("\r\n") if "\n" in written.next_lead else "") + lead
        last = number == len(entries) - 1
        yield lead + entry.text + entry.behind + ("" if last and not written.comma else ",") + entry.beside
        above = entry.beside
    tail = _taken(stranded) + written.tail
    if "#" in above and not tail.lstrip(" \t").startswith(("\n", "\r\n")):
        tail = written.line_end + tail
    if not entries and "#" not in written.opening + tail:
        tail = ""
    yield tail + "]"


def _lead(written: _Written, entry: _Entry, number: int) -> str:
    if "#" in entry.lead:
        return entry.lead
    if number == 0:
        return written.first_lead
    return entry.lead if entry.place else written.next_lead


def _taken(stranded: dict[int | None, str], before: int | None = None) -> str:
    """Comments that stood above dropped entries without belonging to them, and now stand above what is next."""
    places = [place for place in stranded if before is None or (place is not None and place < before)]
    return "".join(stranded.pop(place) for place in places)


def _last_space(lead: str) -> str:
    found = _LAST_SPACE.search(lead)
    return found[0] if found else ""
