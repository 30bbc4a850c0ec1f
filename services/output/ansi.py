"""Turns the bytes of one line into what may be drawn: text without any control, in spans of one look.

What a terminal would act on goes: every escape sequence but colours and weights, with whatever it carries, and every
control character. A line that rewrites itself shows its last state. Characters that hide or turn text around show as
their code, `<202E>`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from services.output.sgr import PLAIN, TextStyle, restyled

CUT = 4000
_TAB = 8
_BYTES_A_CHARACTER = 4

_TOKENS_READ = 1000
_PLAIN_CONTROLS = r"\x00-\x07\x0a-\x0c\x0e-\x1a\x1c-\x1f\x7f\u2028\u2029"
_STRING = r"[^\x07\x18\x1a\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"


def _act(first: str, *, colors: str) -> re.Pattern[str]:
    """What a terminal acts on; starts with one set of characters, which is what makes it quick."""
    return re.compile(
        rf"""[{first}]
        (?: (?<=\x1b) (?: {colors}
                      | [\]PX^_] {_STRING}            # OSC, DCS, SOS, PM, APC with all they carry, ended or not
                      | \[ [0-?]* [\x20-/]* [@-~]?    # CSI, complete or cut short
                      | [\x20-/]* [0-~]               # any other escape sequence
                      )
          | (?<=[\x90\x98\x9d-\x9f]) {_STRING}        # the same, begun by a single C1 character
          | (?<=\x9b) [0-?]* [\x20-/]* [@-~]?
          | [{_PLAIN_CONTROLS}]+
        )?""",
        re.VERBOSE,
    )


_TOKENS = _act(rf"{_PLAIN_CONTROLS}\x1b\x80-\x9f", colors=r"\[ ([0-9;:]*) m")
_DROPPED = _act(rf"{_PLAIN_CONTROLS}\x08\x1b\x80-\x9f", colors=r"\[ [0-9;:]* m")
_BLANKS = re.compile("[\t\n\r\x85\u2028\u2029]+")
_HIDDEN = re.compile(
    "[\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class Span(NamedTuple):
    """Neighbouring characters of one look."""

    text: str
    style: TextStyle


class LineCleaner:
    """Cleans lines for drawing; a plain line takes about a microsecond, a coloured one about ten.

    Args:
        settle: Rewrites text whose width terminals disagree about; left as it is without one.
        width: How many columns text takes, so that tabs end where they should.
        cut: At most this many characters of a line.
    """

    def __init__(
        self,
        settle: Callable[[str], str] | None = None,
        width: Callable[[str], int] | None = None,
        cut: int = CUT,
    ) -> None:
        self._settle = settle
        self._width = width or cell_width
        self._cut = cut

    def clean(self, data: bytes) -> list[Span]:
        """The spans of a line, given without its line end; neighbours differ in style, none is empty."""
        text = data[: self._cut * _BYTES_A_CHARACTER].decode("utf-8", errors="replace")
        ascii_only = text.isascii()
        if ascii_only and text.isprintable():
            return [Span(text[: self._cut], PLAIN)] if text else []
        spans = _split(text)
        if "\r" in text:
            spans = _last_state(spans)
        if "\b" in text:
            spans = _overwritten(_cut(spans, 2 * self._cut))
        if not ascii_only:
            spans = [Span(self._visible(span.text), span.style) for span in spans]
        if "\t" in text:
            spans = self._untabbed(spans)
        return _cut(spans, self._cut)

    def text(self, data: bytes) -> str:
        """The text of a line as it is drawn, for copying."""
        return "".join([span.text for span in self.clean(data)])

    def _visible(self, text: str) -> str:
        if self._settle is not None:
            text = self._settle(text)
        return _marked(text)

    def _untabbed(self, spans: list[Span]) -> list[Span]:
        column = 0
        found = []
        for text, style in _cut(spans, self._cut):
            first, *others = text.split("\t")
            parts = [first]
            column += self._width(first)
            for part in others:
                blanks = _TAB - column % _TAB
                parts.append(" " * blanks + part)
                column += blanks + self._width(part)
            found.append(Span("".join(parts), style))
        return found


def clean_text(text: str | bytes) -> str:
    """Text of any source on one line, without anything a terminal acts on; hidden characters show as their code."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    if text.isascii() and text.isprintable():
        return text
    text = _DROPPED.sub("", _BLANKS.sub(" ", text))
    return text if text.isascii() else _marked(_LONE_SURROGATES.sub("\ufffd", text))


def cell_width(text: str) -> int:
    """How many columns text takes on most terminals."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


@lru_cache(maxsize=1024)
def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _split(text: str) -> list[Span]:
    """Cut text where its look changes and drop all other sequences and controls, but those that move in the line."""
    parts = _TOKENS.split(text, _TOKENS_READ)
    if len(parts) > 2 * _TOKENS_READ:
        parts[-1] = ""
    style = PLAIN
    spans = []
    run = parts[0]
    for position in range(1, len(parts), 2):
        codes = parts[position]
        if codes is not None:
            following = restyled(style, codes)
            if following != style:
                if run:
                    spans.append(Span(run, style))
                    run = ""
                style = following
        run += parts[position + 1]
    if run:
        spans.append(Span(run, style))
    return spans


def _last_state(spans: list[Span]) -> list[Span]:
    """What stands behind the last carriage return that anything follows."""
    found: list[Span] = []
    returned = False
    for text, style in spans:
        for number, part in enumerate(text.split("\r")):
            returned = returned or number > 0
            if part:
                if returned:
                    found, returned = [], False
                found.append(Span(part, style))
    return found


def _overwritten(spans: list[Span]) -> list[Span]:
    """Carry out backspaces: what follows takes the place of what they stepped over."""
    cells: list[Span] = []
    cursor = 0
    for text, style in spans:
        for character in text:
            if character == "\b":
                cursor = max(0, cursor - 1)
            else:
                cells[cursor : cursor + 1] = [Span(character, style)]
                cursor += 1
    return [
        Span("".join([cell.text for cell in group]), style) for style, group in groupby(cells, lambda cell: cell.style)
    ]


def _marked(text: str) -> str:
    """Show what hides or turns text around as its code."""
    return _HIDDEN.sub(lambda match: f"<{ord(match[0]):04X}>", text)


def _cut(spans: list[Span], room: int) -> list[Span]:
    found: list[Span] = []
    for text, style in spans:
        if room <= 0:
            break
        if found and found[-1].style == style:
            found[-1] = Span(found[-1].text + text[:room], style)
        elif text:
            found.append(Span(text[:room], style))
        room -= len(text)
    return found
