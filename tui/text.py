"""The only door for text that Pinfold did not write: names, paths, messages, an agent's output.

What comes out acts on no terminal, stays on its line, and takes as many columns as it is measured to take.
"""

from __future__ import annotations

import re
import unicodedata

from services.output import clean_text

# Where terminals differ in how many columns a sequence takes, its parts are drawn such that all agree.
_JOINERS = "\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_UNSETTLED = re.compile(f"[{_JOINERS}\U0001f1e6-\U0001f1ff\u0300-\u036f\u1100-\u11ff]")
_SETTLED_AS = {
    **dict.fromkeys(map(ord, _JOINERS)),
    **{0x1F1E6 + index: chr(ord("A") + index) for index in range(26)},
}


def safe(text: str) -> str:
    """Make foreign text fit to show on one line: a name, a path, a command, a title, an error's cause.

    Escape sequences go, with what they carry; line ends and tabs become a space; characters that hide or turn text
    around are shown as their code, `<202E>`.
    """
    return settle(clean_text(text))


def printable(data: bytes) -> str:
    """Like `safe`, for bytes that should be UTF-8; what is not shows as a replacement character."""
    return settle(clean_text(data))


def settle(text: str) -> str:
    """Rewrite what terminals disagree about, so that all give text the same columns.

    Joined emoji are drawn one by one, flags as their two letters, emoji and skin-tone selectors not at all; letters
    and marks that have a composed form get it. A mark that starts the text stands on a dotted circle.
    """
    if text.isascii():
        return text
    if _UNSETTLED.search(text):
        text = unicodedata.normalize("NFC", text).translate(_SETTLED_AS)
    if text and unicodedata.combining(text[0]):
        text = f"\u25cc{text}"
    return text
