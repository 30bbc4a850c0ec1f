"""What the viewer shows of a row: its facts on a line, and its content in lines that fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from tui.figures import SECOND, ago, duration, moment, size
from tui.glyphs import glyphs
from tui.screens.memory.editing.writing import pretty
from tui.screens.memory.hiding import hidden, shown_name
from tui.screens.memory.items import Item
from tui.screens.memory.places import ArchiveOf, ScopeKeys, StepsOf
from tui.text import safe
from tui.widgets.status_rule import Part
from tui.widgets.table import Cell, cell

if TYPE_CHECKING:
    from services.pinfold import Pinfold

SHOWN = 64 * 1024
"""The most characters of a value that are shown."""


@dataclass(frozen=True)
class Content:
    """The content of a row.

    Attributes:
        lines: Not clean yet; secrets hidden unless they are to be shown.
        size: Bytes of the whole.
        whole: Whether all of it is here.
        findings: Names of what the scan found.
        gone: There is nothing any more.
    """

    lines: Sequence[str] = ()
    size: int = 0
    whole: bool = True
    findings: tuple[str, ...] = ()
    gone: bool = False


async def read_content(pinfold: Pinfold, item: Item, *, reveal: bool) -> Content:
    """Read what is shown of a row."""
    whole, length = True, item.size
    if isinstance(item.place, ScopeKeys):
        excerpt = await pinfold.memory.namespace(item.place.scope).excerpt(item.id, SHOWN)
        if excerpt is None:
            return Content(gone=True)
        text, whole, length = excerpt.text, excerpt.whole, excerpt.entry.size
        return await pinfold.calls.run(_content, text, excerpt.entry.kind, whole, length, reveal)
    if isinstance(item.place, ArchiveOf) or hasattr(item.of, "content"):
        return await pinfold.calls.run(_content, item.of.content, "", whole, length, reveal)
    if isinstance(item.place, StepsOf):
        from tui.screens.memory.operations.contexts import step_text

        text = step_text(item)
        return await pinfold.calls.run(_content, text[:SHOWN], "object", len(text) <= SHOWN, len(text), reveal)
    return Content([item.preview], 0)


def _content(text: str, kind: str, whole: bool, length: int, reveal: bool) -> Content:
    import msgspec

    if whole and kind == "text":
        text = msgspec.json.decode(text)
    elif whole and kind:
        text = pretty(text)
    shown, findings = hidden(text, reveal=reveal, cut=not whole)
    return Content(shown.split("\n"), length, whole, findings)


def content_lines(content: Content, width: int) -> list[Cell]:
    """The content as it is drawn, in lines of at most `width` columns."""
    lines = [part for line in content.lines for part in _wrapped(line, max(width, 8))]
    if not content.whole:
        told = f"{glyphs().ellipsis} the first {size(SHOWN)} of {size(content.size)}; an export has all of it"
        lines.append(cell(told, "accent"))
    return lines


def _wrapped(line: str, width: int) -> Iterator[Cell]:
    shown = safe(line.replace("\t", "    "))
    if len(shown) <= width and (shown.isascii() or cell_len(shown) <= width):
        yield cell(shown)
        return
    yield from map(cell, _broken(shown, width) if shown.isascii() else chop_cells(shown, width))


def _broken(line: str, width: int) -> Iterator[str]:
    """A long line in pieces, between words where they are not too long for that."""
    at = 0
    while len(line) - at > width:
        space = line.rfind(" ", at + width // 2, at + width + 1)
        end = at + width if space < 0 else space
        yield line[at:end]
        at = end if space < 0 else end + 1
    yield line[at:]


def fact_parts(item: Item, content: Content, now: int) -> list[Part]:
    """The facts of a row, for a rule under its title."""
    if content.gone:
        return [Part(f"{glyphs().warning} gone meanwhile", "warn")]
    parts = [Part(item.type, "strong")]
    parts += [Part(f"{glyphs().warning} {', '.join(content.findings)}", "warn")] if content.findings else []
    if content.size:
        parts.append(
            Part(f"{size(content.size)}{'' if content.size < 1000 else f' ({content.size:,} bytes)'}", "muted")
        )
    if isinstance(item.place, ScopeKeys):
        parts.append(_left(item, now))
    if item.importance is not None:
        parts += _standing(item)
    if item.updated_at is not None:
        parts.append(Part(f"{moment(item.updated_at)}, {ago(item.updated_at, now)} ago", "muted", gives_way=True))
    return parts


def _left(item: Item, now: int) -> Part:
    if item.expires_at is None:
        return Part("never expires", "muted")
    seconds = (item.expires_at - now) / SECOND
    return Part(f"{duration(seconds)} left" if seconds > 0 else "expired", "warn" if seconds < 60 else "accent")


def _standing(item: Item) -> Iterator[Part]:
    yield Part(f"{item.category}, importance {item.importance:.2f}", "muted")
    if item.pinned:
        yield Part("pinned", "accent")
    if item.withheld:
        yield Part("withheld from agents", "bad")
    if item.superseded:
        yield Part(f"superseded by {shown_name(item.of.superseded_by[:12])}", "warn")
    if item.session:
        yield Part(f"session {item.session}", "muted", gives_way=True)
