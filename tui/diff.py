"""Two versions of a file, line by line, with what differs inside a line told apart."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe
from tui.widgets.table import Cell, Span

_CONTEXT = 2
_BEFORE = 60
_LONGEST = 400
_GUTTER = 5
_MANY = 4000
"""Lines from which on often repeated ones are not matched, since that takes too long."""


def diff_lines(before: str, after: str) -> list[Cell]:
    """Compare two texts; blocks, for long while large texts differ much.

    Args:
        before: As it is.
        after: As it would be; both are cleaned here.
    """
    old, new = before.splitlines(), after.splitlines()
    hasty = len(old) + len(new) > _MANY
    groups = difflib.SequenceMatcher(None, old, new, autojunk=hasty).get_grouped_opcodes(_CONTEXT)
    lines: list[Cell] = []
    for group in groups:
        if lines:
            lines.append((Span(f"{glyphs().ellipsis:>{_GUTTER}}", "muted"),))
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                lines += (_line(at, " ", (Span(_cut(old[at]), "muted"),), "muted") for at in range(start, end))
            else:
                lines += _replaced(old, range(start, end), new, range(new_start, new_end))
    return lines


def _replaced(old: Sequence[str], gone: range, new: Sequence[str], come: range) -> Iterator[Cell]:
    """What went and what came; lines that stand for each other show only what differs in them in colour."""
    pairs = list(zip_longest(gone, come))
    alike = len(gone) == len(come)
    for number, other in pairs:
        if number is not None:
            yield _line(
                number, "-", _marked(old[number], new[other] if alike and other is not None else "", "bad"), "bad"
            )
    for number, other in pairs:
        if other is not None:
            yield _line(
                other, "+", _marked(new[other], old[number] if alike and number is not None else "", "good"), "good"
            )


def _marked(line: str, other: str, tone: Tone) -> Cell:
    head = _common(line, other)
    tail = _common(line[head:][::-1], other[head:][::-1])
    end = len(line) - tail
    start = max(head - _BEFORE, 0) if len(line) > _LONGEST else 0
    lead = glyphs().ellipsis if start else ""
    room = _LONGEST - (head - start)
    middle = _cut(line[head:end], room)
    return (Span(lead + safe(line[start:head])), Span(middle, tone), Span(_cut(line[end:], max(room - len(middle), 0))))


def _common(one: str, other: str) -> int:
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _line(number: int, sign: str, cell: Cell, tone: Tone) -> Cell:
    return (Span(f"{number + 1:>{_GUTTER - 1}} ", "muted"), Span(f"{sign} ", tone), *cell)


def _cut(text: str, most: int = _LONGEST) -> str:
    return safe(text) if len(text) <= most else safe(text[:most]) + glyphs().ellipsis
