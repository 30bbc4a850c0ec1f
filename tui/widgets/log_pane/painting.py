"""Turns one line of output into segments of the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style

from services.output import PLAIN, Level, Line, LineCleaner, Span, Stream, TextStyle, level_of
from tui.text import settle
from tui.widgets.log_pane.colours import Ground, styled

MOST_CHARACTERS = 4_000
"""Characters of a line that are drawn; the rest shows when the line is opened."""

_MOST_SPANS = 600
_CLEANER = LineCleaner(settle, cell_len, MOST_CHARACTERS + 1)


@dataclass(frozen=True)
class Marking:
    """What is searched for.

    Attributes:
        reach: How many characters of a line are looked at.
    """

    pattern: re.Pattern[str]
    reach: int


@dataclass(frozen=True)
class Looks:
    """How the parts of a line look, each complete with its background.

    Attributes:
        ground: What agents' colours are drawn on, and plain text.
        note: Pinfold's own remarks.
        levels: Lines that report a level and have no colours of their own.
        hit: Laid over what was searched for.
        cut: The remark that a line goes on.
    """

    ground: Ground
    note: Style
    levels: Mapping[Level, Style]
    hit: Style
    cut: Style


class Part(NamedTuple):
    """What is drawn of a line on one row of the screen, and its columns."""

    segments: list[Segment]
    width: int


class LinePainter:
    """Paints lines; the style of each look is worked out once.

    Args:
        looks: The colours.
        width: Columns after which a line is wrapped; None leaves it in one strip of any length.
        wanted: What is searched for, marked wherever it stands.
        cut_note: Says that a line goes on, with its length in bytes for `{}`.
    """

    def __init__(
        self, looks: Looks, width: int | None = None, wanted: Marking | None = None, cut_note: str = "… {}"
    ) -> None:
        self._looks = looks
        self._width = width
        self._wanted = wanted
        self._cut_note = cut_note
        self._styles: dict[TextStyle, Style] = {}

    def paint(self, line: Line) -> tuple[Part, ...]:
        """Draw a line; several parts, each as wide as fits, when it is wrapped."""
        segments = self._segments(line)
        if self._width is None:
            return (Part(segments, sum([cell_len(segment.text) for segment in segments])),)
        return tuple(wrapped(segments, self._width))

    def _segments(self, line: Line) -> list[Segment]:
        spans = _CLEANER.clean(line.data)
        plain = self._plain(line, spans)
        segments: list[Segment] = []
        free = MOST_CHARACTERS
        for text, look in spans[:_MOST_SPANS]:
            segments.append(Segment(text[:free], plain if look == PLAIN else self._style(look)))
            free -= len(text)
        if self._wanted is not None:
            segments = _marked(segments, self._wanted, self._looks.hit)
        if free < 0 or len(spans) > _MOST_SPANS or len(line.data) < line.length:
            segments.append(Segment(self._cut_note.format(f"{line.length:,}"), self._looks.cut))
        return segments

    def _plain(self, line: Line, spans: list[Span]) -> Style:
        """How text without colours looks in a line; its level colours it only when it brings no colours at all."""
        looks = self._looks
        if line.stream is Stream.NOTE:
            return looks.note
        if len(spans) > 1 or not spans or spans[0].style != PLAIN:
            return looks.ground.style
        level = level_of(line.data)
        return looks.ground.style if level is None else looks.levels.get(level, looks.ground.style)

    def _style(self, look: TextStyle) -> Style:
        style = self._styles.get(look)
        if style is None:
            style = self._styles[look] = styled(look, self._looks.ground)
        return style


def wrapped(segments: Iterable[Segment], width: int) -> list[Part]:
    """Break a line into parts of at most `width` columns; a wide character is never broken."""
    parts: list[Part] = []
    row: list[Segment] = []
    free = width
    for text, style, _ in segments:
        while text:
            head, used = _fitting(text, free)
            if not head and free == width:  # wider than the whole pane
                text = f"\ufffd{text[1:]}"
                continue
            if head:
                row.append(Segment(head, style))
                text, free = text[len(head) :], free - used
            if text:
                parts.append(Part(row, width - free))
                row, free = [], width
    return [*parts, Part(row, width - free)]


def _fitting(text: str, width: int) -> tuple[str, int]:
    """The longest beginning of at most `width` columns, and its columns."""
    if text.isascii():
        head = text[:width]
        return head, len(head)
    used = 0
    for index, character in enumerate(text):
        size = get_character_cell_size(character)
        if used + size > width:
            return text[:index], used
        used += size
    return text, used


def _marked(segments: list[Segment], wanted: Marking, hit: Style) -> list[Segment]:
    """Lay a style over what is searched for, wherever segments begin and end."""
    whole = "".join([segment.text for segment in segments])
    found = wanted.pattern.finditer(whole, 0, wanted.reach)
    cuts = [cut for match in found if match.end() > match.start() for cut in match.span()]
    if not cuts:
        return segments
    marked: list[Segment] = []
    position, index = 0, 0
    for text, style, _ in segments:
        stop = position + len(text)
        while position < stop:
            while index < len(cuts) and cuts[index] <= position:
                index += 1
            until = min(stop, cuts[index]) if index < len(cuts) else stop
            inside = index % 2 == 1
            marked.append(Segment(whole[position:until], (style or Style.null()) + hit if inside else style))
            position = until
    return marked
