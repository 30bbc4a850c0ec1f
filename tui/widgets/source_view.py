"""TOML as written, with line numbers, and each problem under the line it is in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe
from tui.widgets.table import Cell, Span

_GUTTER = 6
_LONGEST = 2000
_MOST_LINES = 20_000

_TOKEN = re.compile(
    r"(?P<comment>\#.*$)"
    r"|(?P<section>^\s*\[\[?[^\]\n]*\]\]?(?=\s*(?:\#|$)))"
    r"|(?P<key>^\s*[A-Za-z0-9_.\"' -]+?(?=\s*=))"
    r"|(?P<string>\"(?:\\.|[^\"\\])*\"?|'[^']*'?)"
    r"|(?P<value>\b(?:true|false|[-+]?\d[\w.:+-]*)\b)"
)
_TONES: dict[str, Tone] = {"comment": "muted", "section": "accent", "key": "strong", "string": "good", "value": "warn"}


@dataclass(frozen=True)
class Remark:
    """A problem of a file.

    Attributes:
        line: Counted from 1; 0 concerns the file as a whole.
        texts: Clean text, a row for each.
    """

    line: int
    texts: tuple[str, ...]
    error: bool = True


@dataclass(frozen=True)
class _Row:
    """A line as drawn; `number` is None for a remark, of which one row `begins` it."""

    number: int | None
    cell: Cell
    problem: bool = False
    begins: bool = False


class SourceView(ScrollView, can_focus=True):
    """Shows one file."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "source-view--text",
        "source-view--number",
        "source-view--problem-line",
        "source-view--muted",
        "source-view--accent",
        "source-view--strong",
        "source-view--good",
        "source-view--warn",
        "source-view--bad",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False),
        Binding("k", "scroll_up", show=False),
        Binding("g", "scroll_home", show=False),
        Binding("G", "scroll_end", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[_Row] = []
        self._jumped_to = 0

    def show(self, text: str, remarks: Sequence[Remark]) -> None:
        """Show a file; stays at its place when it is the same file written anew.

        Args:
            text: As read; cleaned here.
            remarks: What is wrong with it.
        """
        self._rows = _rows(text, remarks)
        widest = max((sum(cell_len(span.text) for span in row.cell) for row in self._rows), default=0)
        self.virtual_size = Size(widest + _GUTTER, len(self._rows))
        self.refresh()

    def go_to_next_problem(self) -> bool:
        """Bring the next remark into sight, after the last one the first; False when there is none."""
        places = [index for index, row in enumerate(self._rows) if row.begins]
        if not places:
            return False
        place = next((place for place in places if place > self._jumped_to), places[0])
        self._jumped_to = place
        self.scroll_to(y=max(place - self.size.height // 2, 0), animate=False, immediate=True)
        return True

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self.size.width
        index = y + self.scroll_offset.y
        base = self.get_component_rich_style("source-view--text")
        if index >= len(self._rows):
            return Strip.blank(width, base)
        row = self._rows[index]
        if row.problem:
            base += self.get_component_rich_style("source-view--problem-line", partial=True)
        number = self.get_component_rich_style("source-view--number", partial=True)
        label = "" if row.number is None else str(row.number)
        strip = Strip([Segment(span.text, base + self._tone(span.tone) if span.tone else base) for span in row.cell])
        left = Strip([Segment(f"{label:>{_GUTTER - 2}}  ", base + number)])
        room = width - _GUTTER
        scrolled = self.scroll_offset.x
        return Strip.join([left, strip.crop_extend(scrolled, scrolled + room, base)])

    def _tone(self, tone: Tone) -> Style:
        return self.get_component_rich_style(f"source-view--{tone}", partial=True)


def _rows(text: str, remarks: Sequence[Remark]) -> list[_Row]:
    by_line: dict[int, list[Remark]] = {}
    for remark in remarks:
        by_line.setdefault(remark.line, []).append(remark)
    rows = [row for remark in by_line.pop(0, []) for row in _remark(remark, 0)]
    lines = text.split("\n")
    for number, line in enumerate(lines[:_MOST_LINES], start=1):
        here = by_line.pop(number, [])
        shown = line.removesuffix("\r")[:_LONGEST]
        rows.append(_Row(number, toml_spans(shown), problem=bool(here)))
        indent = len(shown) - len(shown.lstrip())
        rows += [row for remark in here for row in _remark(remark, indent)]
    if len(lines) > _MOST_LINES:
        rows.append(_Row(None, (Span(f"{len(lines) - _MOST_LINES:,} more lines", "muted"),)))
    rows += [row for rest in by_line.values() for remark in rest for row in _remark(remark, 0)]
    return rows


def _remark(remark: Remark, indent: int) -> Iterator[_Row]:
    tone: Tone = "bad" if remark.error else "warn"
    for index, text in enumerate(remark.texts):
        sign = glyphs().warning if index == 0 else " "
        yield _Row(None, (Span(f"{' ' * indent}{sign} {text}", tone),), problem=True, begins=index == 0)


def toml_spans(line: str) -> Cell:
    """Colour one line of TOML; a string over several lines is coloured as if each line stood alone."""
    spans: list[Span] = []
    end = 0
    for match in _TOKEN.finditer(line):
        if match.start() > end:
            spans.append(Span(_shown(line[end : match.start()])))
        spans.append(Span(_shown(match[0]), _TONES[match.lastgroup or "value"]))
        end = match.end()
    if end < len(line):
        spans.append(Span(_shown(line[end:])))
    return tuple(spans)


def _shown(text: str) -> str:
    return safe(text.replace("\t", "    "))
