"""Text as it is typed into a line: what would act on a terminal is written as TOML writes it, by its code.

An input draws its text as it is, so foreign text must not get into one any other way.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tui.text import safe

_DOUBTFUL = re.compile(r"[^ -~]")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|$)", re.DOTALL)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LONG = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}


def written_out(text: str) -> str:
    """Write a text such that it can be typed, seen and read back unchanged by `read_back`."""
    return harmless(text.replace("\\", "\\\\"))


def harmless(typed: str) -> str:
    """Write out what must not be drawn in a text being typed; the rest stays as it is."""
    return _DOUBTFUL.sub(lambda match: _drawn(match[0]), typed)


def read_back(typed: str) -> str:
    """What a typed text means.

    Raises:
        ValueError: An escape is unknown; says how a backslash is written.
    """
    return _ESCAPE.sub(_meant, typed)


@lru_cache(maxsize=4096)
def _drawn(character: str) -> str:
    if safe(character) == character:
        return character
    code = ord(character)
    return _SHORT.get(character) or (f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}")


def _meant(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) > 1:
        code = int(escape[1:], 16)
        if code < 0x110000 and not 0xD800 <= code < 0xE000:
            return chr(code)
    elif escape in _LONG:
        return _LONG[escape]
    raise ValueError("this escape is unknown; a backslash is written \\\\")
