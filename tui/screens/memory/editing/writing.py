"""Values as they are typed: JSON, or text in lines; whatever a terminal would act on is written out in both."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from services.errors import InputRefused
from services.memory import from_json
from tui.text import safe
from tui.typed import harmless, read_back, written_out

if TYPE_CHECKING:
    from services.memory import Json

Form = Literal["json", "text"]

EDITABLE = 64 * 1024
"""The most bytes of a value that the screen edits."""

_DOUBTFUL = re.compile(r"[^ -~\n]")


@dataclass(frozen=True)
class Problem:
    """Why what is typed cannot be stored.

    Attributes:
        line, column: Counted from 1; 0 where it is no one place.
    """

    text: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.text}" if self.line else self.text


def pretty(text: str) -> str:
    """JSON in lines, indented."""
    return msgspec.json.format(text, indent=2)


def typed_json(text: str) -> str:
    """JSON in lines as it can be drawn and typed: other characters in its texts stand as their escapes."""
    return _DOUBTFUL.sub(_escaped, pretty(text))


def typed_text(text: str) -> str:
    """Text as it can be drawn and typed, its lines kept; a backslash is written twice."""
    return "\n".join(written_out(line) for line in text.split("\n"))


def drawable(typed: str, form: Form) -> str:
    """What is pasted or typed, with what must not be drawn written out; line ends stay."""
    lines = typed.replace("\r\n", "\n").replace("\r", "\n")
    if form == "json":
        return _DOUBTFUL.sub(_escaped, lines)
    return "\n".join(harmless(line) for line in lines.split("\n"))


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if safe(character) == character:
        return character
    if character == "\t":
        return "  "
    return "".join(f"\\u{unit:04x}" for unit in _units(ord(character)))


def _units(code: int) -> tuple[int, ...]:
    """A character as JSON escapes it: one unit of UTF-16, or two."""
    if code < 0x10000:
        return (code,)
    high, low = divmod(code - 0x10000, 0x400)
    return (0xD800 + high, 0xDC00 + low)


def read_typed_json(typed: str) -> Json | Problem:
    """Read what is typed as JSON."""
    try:
        json.loads(typed)
    except json.JSONDecodeError as error:
        return Problem(error.msg[:1].lower() + error.msg[1:], error.lineno, error.colno)
    except RecursionError:
        return Problem("it is nested too deeply")
    except ValueError as error:  # a number of thousands of digits
        return Problem(safe(str(error)))
    try:
        return from_json(typed)
    except InputRefused as error:
        return Problem(safe(error.why or error.what))


def read_typed_text(typed: str) -> str | Problem:
    """Read what is typed as text."""
    lines: list[str] = []
    for number, line in enumerate(typed.split("\n"), start=1):
        try:
            lines.append(read_back(line))
        except ValueError as error:
            return Problem(str(error), number, line.find("\\") + 1)
    return "\n".join(lines)


def read_loosely(typed: str) -> Json:
    """Read a value of one line: JSON, or a text that does not look like any.

    Raises:
        InputRefused: It looks like JSON and is none, or cannot be kept.
    """
    value = read_typed_json(typed)
    if not isinstance(value, Problem):
        return value
    if typed.lstrip().startswith(tuple('{["-0123456789')) or not typed:
        raise InputRefused("the value is not JSON", why=str(value), fix="Quote it to store it as text.")
    return typed
