"""Values as JSON text: what may be stored, and how equal values are made equal text."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

import msgspec

from services.errors import InputRefused
from services.memory.scopes.model import Json, Kind

VALUE_LIMIT = 4 * 1024 * 1024
"""The most bytes of one value's JSON, and of one item of a list."""

LIST_LIMIT = 16 * 1024 * 1024
"""The most bytes of a list that grew item by item."""

DEPTH_LIMIT = 64
"""The most lists and objects inside one another."""

_ENCODER = msgspec.json.Encoder(order="deterministic")

_SHORT = VALUE_LIMIT // 8
"""A text of fewer characters is never too large, whatever JSON makes of each."""

LEAST_INTEGER, MOST_INTEGER = -(2**63), 2**63 - 1

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_LONG_NUMBER = re.compile(rb"-?\d{19,}(?![\d.eE])")
_LONG = re.compile(rb"\d{19}")
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_KINDS: dict[str, Kind] = {"n": "null", "t": "boolean", "f": "boolean", '"': "text", "[": "list", "{": "object"}


class Stored(NamedTuple):
    """A value as it lies in the database.

    Attributes:
        text: JSON without spaces, the names of objects sorted; "" for a list.
        items: A list's items, likewise.
        size: Bytes of the JSON.
    """

    kind: Kind
    text: str
    items: tuple[str, ...]
    size: int


def encode(value: Json) -> Stored:
    """Turn a value into what is stored.

    Raises:
        InputRefused: It is not JSON, has a number that JSON or 64 bits cannot hold, or is too large or too deep.
    """
    if isinstance(value, str) and len(value) > VALUE_LIMIT:
        raise _too_large(len(value))
    try:
        data = _ENCODER.encode(value)
    except RecursionError as error:
        raise InputRefused("the value cannot be stored", why="it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError, OverflowError) as error:
        raise InputRefused("the value is not JSON", why=str(error)) from error
    if type(value) is str:  # needs none of what follows
        _check_size(data)
        return Stored("text", data.decode(), (), len(data))
    _check(data)
    if msgspec.json.decode(data) != value:  # as NaN, a tuple, a set, bytes or a date would be
        raise InputRefused(
            "the value is not JSON", why="it holds something other than null, numbers, texts, lists and objects"
        )
    return _stored(data)


def parse(text: str | bytes) -> Stored:
    """Turn JSON text into what is stored.

    Raises:
        InputRefused: It is not JSON, has a number that JSON or 64 bits cannot hold, or is too large or too deep.
    """
    if len(text) > LIST_LIMIT:
        raise _too_large(len(text))
    try:
        value = msgspec.json.decode(text)
    except RecursionError as error:
        raise InputRefused("the value cannot be stored", why="it is nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise InputRefused("the value is not JSON", why=str(error)) from error
    data = _ENCODER.encode(value)
    _check(data)
    return _stored(data)


def from_json(text: str | bytes) -> Json:
    """Read a value from JSON text.

    Raises:
        InputRefused: As `parse`.
    """
    stored = parse(text)
    return decode(joined(stored.items) if stored.kind == "list" else stored.text)


def decode(text: str | bytes) -> Json:
    """Turn stored JSON back into a value."""
    return msgspec.json.decode(text)


def to_json(value: Json) -> str:
    """Turn a value into JSON text as it is stored.

    Raises:
        InputRefused: As `encode`.
    """
    if type(value) is str and len(value) < _SHORT:  # can neither be too large nor anything but text
        with suppress(UnicodeEncodeError):  # told below
            return _ENCODER.encode(value).decode()
    stored = encode(value)
    return stored.text if stored.kind != "list" else joined(stored.items)


def joined(items: tuple[str, ...] | list[str]) -> str:
    """Make a list's JSON of its items' JSON."""
    return f"[{','.join(items)}]"


def item_size(text: str) -> int:
    """Bytes an item adds to its list."""
    return len(text.encode()) + 1


def _stored(data: bytes) -> Stored:
    text = data.decode()
    kind = _KINDS.get(text[0]) or ("integer" if text.lstrip("-").isdecimal() else "number")
    if kind != "list":
        return Stored(kind, text, (), len(data))
    items = tuple(bytes(raw).decode() for raw in msgspec.json.decode(data, type=list[msgspec.Raw]))
    return Stored(kind, "", items, len(data))


def _check(data: bytes) -> None:
    _check_size(data)
    nested = data[0] in b"[{"
    long_number = _LONG.search(data) is not None
    if not nested and not long_number:
        return
    bare = _STRING.sub(b"", data)
    if long_number:
        _check_integers(bare)
    if nested:
        _check_depth(bare)


def _check_size(data: bytes) -> None:
    if len(data) > VALUE_LIMIT and (len(data) > LIST_LIMIT or not data.startswith(b"[")):
        raise _too_large(len(data))


def _check_integers(bare: bytes) -> None:
    for match in _LONG_NUMBER.finditer(bare):
        before = bare[max(match.start() - 1, 0) : match.start()]
        if before in (b".", b"e", b"E", b"+") or before.isdigit():  # digits of a fraction or an exponent
            continue
        if len(match[0]) > 20 or not LEAST_INTEGER <= int(match[0]) <= MOST_INTEGER:
            raise InputRefused("the value cannot be stored", why="an integer in it needs more than 64 bits")


def _check_depth(bare: bytes) -> None:
    """Take away the innermost pairs of brackets until none is left; each round is one level."""
    brackets = bare.translate(_BRACKETS, _NO_BRACKETS)
    for _ in range(DEPTH_LIMIT):
        brackets = brackets.replace(b"[]", b"")
        if not brackets:
            return
    raise InputRefused("the value cannot be stored", why=f"it is nested more than {DEPTH_LIMIT} levels deep")


def _too_large(size: int) -> InputRefused:
    return InputRefused("the value is too large", why=f"it has {size:,} bytes, at most {VALUE_LIMIT:,} are kept")
