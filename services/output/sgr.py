"""What a terminal's colour codes (SGR) make of text."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

Color = int | tuple[int, int, int] | None

_CODES_READ = 64
_EXTENDED = {38: "fg", 48: "bg"}


class TextStyle(NamedTuple):
    """How text looks.

    Attributes:
        fg, bg: None is the terminal's own, 0 to 255 one of its palette, a tuple red, green and blue from 0 to 255.
    """

    fg: Color = None
    bg: Color = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = TextStyle()

_CHANGES: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}


@lru_cache(maxsize=4096)
def restyled(style: TextStyle, codes: str) -> TextStyle:
    """The style after `ESC [ codes m`; codes that mean nothing here change nothing, and text is never concealed."""
    if codes in ("", "0"):
        return PLAIN
    fields = codes.split(";")[:_CODES_READ]
    position = 0
    while position < len(fields):
        code, *details = fields[position].split(":")
        position += 1
        number = _number(code)
        if number in (38, 48, 58):
            if not details:
                details = _details(fields[position:])
                position += len(details)
            elif details[0] == "2" and len(details) > 4:
                del details[1]  # the colour space, which only the form with colons has
            if number in _EXTENDED:
                style = _colored(style, _EXTENDED[number], details)
        elif number == 4 and details:
            style = style._replace(underline=details[0] != "0")
        else:
            style = _changed(style, number)
    return style


def _changed(style: TextStyle, code: int) -> TextStyle:
    if code == 0:
        return PLAIN
    if code in _CHANGES:
        return style._replace(**_CHANGES[code])
    tens, ones = divmod(code, 10)
    if ones < 8 and tens in (3, 4, 9, 10):
        color = ones + (8 if tens >= 9 else 0)
        return style._replace(fg=color) if tens in (3, 9) else style._replace(bg=color)
    if code == 39:
        return style._replace(fg=None)
    if code == 49:
        return style._replace(bg=None)
    return style


def _details(fields: list[str]) -> list[str]:
    """What belongs to an extended colour of the form with semicolons."""
    if fields[:1] == ["5"]:
        return fields[:2]
    return fields[:4] if fields[:1] == ["2"] else fields[:1]


def _colored(style: TextStyle, layer: str, details: list[str]) -> TextStyle:
    numbers = [_number(detail) for detail in details]
    if any(not 0 <= number <= 255 for number in numbers):
        return style
    color: Color = None
    if len(numbers) >= 2 and numbers[0] == 5:
        color = numbers[1]
    elif len(numbers) >= 4 and numbers[0] == 2:
        color = (numbers[1], numbers[2], numbers[3])
    if color is None:
        return style
    return style._replace(fg=color) if layer == "fg" else style._replace(bg=color)


def _number(text: str) -> int:
    if not text:
        return 0
    return int(text) if len(text) <= 3 and text.isdigit() else -1
