"""Memory files as text: entries among whatever people wrote beside them.

An entry is a list item. Further lines of its content are indented by two spaces, and its last line is a comment with
what Markdown has no place for:

    - **editor**: vi
      but ed over ssh
      <!-- pinfold {"id":"6f0c…","created_at":1800000000000000000,"updated_at":1800000000000000000} -->

Any other line that is neither empty nor a heading counts as an entry that a person wrote.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import msgspec

_Time = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]

_ITEM = re.compile(r"- \*\*((?:[^\\*]|\\.)+)\*\*:(?: (.*))?", re.DOTALL)
_INDENT = "  "
_OPENING = "<!-- pinfold "
_CLOSING = " -->"
_LOOKS_LIKE_MARK = re.compile(r"\\*<!-- pinfold ")
_SPECIAL = re.compile(r"[\\*\x00-\x1f\x7f]")
_ESCAPE = re.compile(r"\\(?:x\{([0-9a-f]{1,6})\}|(.))", re.DOTALL)


class Mark(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a row has beside its key and content; see `Row`."""

    id: str
    category: str = ""
    session: str = ""
    importance: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    pinned: bool = False
    superseded_by: str = ""
    findings: tuple[str, ...] = ()
    withheld: bool = False
    created_at: _Time
    updated_at: _Time


@dataclass(frozen=True)
class Item:
    """An entry of a file.

    Attributes:
        mark: None for one that a person wrote.
    """

    key: str
    content: str
    mark: Mark | None = None


@dataclass(frozen=True)
class Piece:
    """Some lines of a file.

    Attributes:
        text: The lines as they are, with their ends.
        item: The entry they are; None for empty lines and headings.
    """

    text: str
    item: Item | None = None


def pieces_of(text: str, stem: str) -> list[Piece]:
    """Take a file apart; the texts of the pieces together are the file.

    Args:
        text: The file; bytes that are no UTF-8 are lone surrogates.
        stem: The file's name without its ending, for the keys of entries that have none.
    """
    return list(_pieces(text.split("\n"), stem))


def _pieces(lines: list[str], stem: str) -> Iterator[Piece]:
    at = 0
    while at < len(lines):
        found = _ITEM.fullmatch(lines[at])
        if found:
            end = _end_of_item(lines, at + 1)
            key, first = _unescaped(found[1]), found[2] or ""
            yield Piece(_joined(lines, at, end), _item(key, first, lines[at + 1 : end]))
        else:
            end = at + 1
            yield Piece(_joined(lines, at, end), _written_by_hand(lines[at], stem))
        at = end


def _joined(lines: list[str], start: int, end: int) -> str:
    text = "\n".join(lines[start:end])
    return text if end == len(lines) else f"{text}\n"


def _end_of_item(lines: list[str], at: int) -> int:
    """Find the line behind an item: behind its mark, else behind its last indented line."""
    end = at
    while at < len(lines) and (lines[at].startswith(_INDENT) or not lines[at].strip()):
        if lines[at].startswith(_INDENT):
            end = at + 1
            if _mark_of(lines[at]) is not None:
                break
        at += 1
    return end


def _item(key: str, first: str, more: list[str]) -> Item:
    mark = _mark_of(more[-1]) if more else None
    content = more[:-1] if mark else more
    further = (_without_escape(line.removeprefix(_INDENT)) for line in content)
    return Item(_readable(key), _readable("\n".join((first, *further))), mark)


def _mark_of(line: str) -> Mark | None:
    bare = line.removeprefix(_INDENT).rstrip("\r")
    if not bare.startswith(_OPENING) or not bare.endswith(_CLOSING):
        return None
    try:
        return msgspec.json.decode(_readable(bare[len(_OPENING) : -len(_CLOSING)]), type=Mark)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _written_by_hand(line: str, stem: str) -> Item | None:
    bare = line.strip()
    if not bare or bare.startswith("#"):
        return None
    content = _readable(bare.removeprefix("- "))
    digest = hashlib.sha256(content.encode()).hexdigest()
    return Item(f"{stem}:{digest[:8]}", content)


def written(item: Item) -> str:
    """Write an entry that has a mark, as lines."""
    first, *more = item.content.split("\n")
    lines = [f"- **{_escaped(item.key)}**: {first}"]
    for line in more:
        escape = "\\" if _LOOKS_LIKE_MARK.match(line) else ""
        lines.append(f"{_INDENT}{escape}{line}")
    mark = msgspec.json.encode(item.mark).decode().replace("-->", "--\\u003e")
    return "\n".join((*lines, f"{_INDENT}{_OPENING}{mark}{_CLOSING}", ""))


def _without_escape(line: str) -> str:
    return line[1:] if line.startswith("\\") and _LOOKS_LIKE_MARK.match(line) else line


def _escaped(key: str) -> str:
    return _SPECIAL.sub(lambda sign: f"\\{sign[0]}" if sign[0] in "\\*" else f"\\x{{{ord(sign[0]):x}}}", key)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda sign: _sign(sign[1]) if sign[1] else sign[2], text)


def _sign(number: str) -> str:
    value = int(number, 16)
    return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else "\ufffd"


def _readable(text: str) -> str:
    """Replace what is no text by the sign for that."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
