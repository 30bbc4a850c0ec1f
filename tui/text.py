"""The only door for text that Pinfold did not write: names, paths, messages, an agent's output.

What comes out acts on no terminal, stays on its line, and takes as many columns as it is measured to take.
"""

from __future__ import annotations

import re
import unicodedata

_ESCAPES = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC and contents
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI, complete or cut short
    r"|\x1b[ -/]*[0-~]?"  # any other escape sequence
)
_BLANKS = re.compile(r"[\t\n\x0b\x0c\r\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HIDDEN = re.compile(
    "[\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")

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
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", text)
    text = _BLANKS.sub(" ", text)
    text = _CONTROLS.sub("", text)
    if text.isascii():
        return text
    text = settle(_LONE_SURROGATES.sub("\ufffd", text))
    return _HIDDEN.sub(lambda match: f"<{ord(match[0]):04X}>", text)


def printable(data: bytes) -> str:
    """Like `safe`, for bytes that should be UTF-8; what is not shows as a replacement character."""
    return safe(data.decode("utf-8", errors="replace"))


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
