"""The beginning of a member of an archive as lines: text, rows of memory, core blocks, or bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING

from tui.figures import moment, size
from tui.glyphs import glyphs
from tui.text import printable, safe
from tui.widgets.table import Cell, Span, cell

if TYPE_CHECKING:
    from services.archives import KeptEntry, KeptTenant, OpenArchive, Preview
    from services.home import BlockingCalls
    from services.memory import Row
    from tui.screens.archives.outline import Node

_MOST_ROWS = 1000
_LONGEST = 2000
_CONTENT = 400
_HEX_BYTES = 1024
_HEX_ROW = 16


async def preview_lines(opened: OpenArchive, node: Node, calls: BlockingCalls) -> list[Cell]:
    """Read the beginning of what a line of the tree stands for; nothing is unpacked.

    Raises:
        ArchiveError: It cannot be read.
    """
    member = node.member
    if member is None:
        return [cell(node.note or node.label, "warn" if node.refused else "muted")]
    if member.kind == "folder":
        return [cell(f"{node.amount} in this folder", "muted")]
    if member.path == "memory.jsonl":
        return await _memory(opened)
    if member.path == "core_blocks.jsonl":
        return await _core_blocks(opened)
    if member.path == "archive_entries.jsonl":
        return await _entries(opened)
    from services.archives import result_of

    preview = await result_of(opened.preview(member.path))
    return await calls.run(lambda: list(_lines(preview)))


async def _memory(opened: OpenArchive) -> list[Cell]:
    lines: list[Cell] = []
    async with aclosing(opened.memory()) as pages:
        async for rows in pages:
            lines += map(_row, rows)
            if len(lines) >= _MOST_ROWS:
                return [*lines, _rest()]
    return lines


def _row(row: Row) -> Cell:
    content = safe(row.content[:_CONTENT]) + (glyphs().ellipsis if len(row.content) > _CONTENT else "")
    old = "  superseded" if row.superseded_by else ""
    return (
        Span(f"{safe(row.key[:80])}  ", "strong"),
        Span(f"{safe(row.category[:40])}{old}  ", "muted"),
        Span(content),
    )


async def _core_blocks(opened: OpenArchive) -> list[Cell]:
    lines: list[Cell] = []
    async with aclosing(opened.core_blocks()) as pages:
        async for tenants in pages:
            for tenant in tenants:
                lines += _tenant(tenant)
            if len(lines) >= _MOST_ROWS:
                return [*lines, _rest()]
    return lines


def _tenant(kept: KeptTenant) -> Iterator[Cell]:
    yield cell(safe((kept.tenant.role or kept.tenant.agent)[:80]), "strong")
    for name, content in kept.blocks.items():
        yield cell(f"  {safe(name[:80])}", "accent")
        for line in content[: _LONGEST * 4].splitlines():
            yield cell(f"    {safe(line[:_LONGEST])}")
    for at, noted in kept.history[-20:]:
        yield (Span(f"  {moment(at)}  ", "muted"), Span(safe(noted[:_CONTENT]), "muted"))


async def _entries(opened: OpenArchive) -> list[Cell]:
    lines: list[Cell] = []
    async with aclosing(opened.archive_entries()) as pages:
        async for entries in pages:
            lines += map(_entry, entries)
            if len(lines) >= _MOST_ROWS:
                return [*lines, _rest()]
    return lines


def _entry(entry: KeptEntry) -> Cell:
    return (Span(f"{moment(entry.created_at)}  ", "muted"), Span(safe(entry.content[:_CONTENT])))


def _rest() -> Cell:
    return cell(f"{glyphs().ellipsis} and more; tar and jq read all of it", "muted")


def _lines(preview: Preview) -> Iterator[Cell]:
    if preview.binary:
        yield cell(f"bytes, {size(preview.size)}", "muted")
        yield from _hex(preview.data[:_HEX_BYTES])
        return
    for line in preview.data.splitlines():
        yield cell(printable(line[:_LONGEST]))
    if not preview.size:
        yield cell("empty", "muted")
    elif not preview.whole:
        yield cell(f"{glyphs().ellipsis} the first {size(len(preview.data))} of {size(preview.size)}", "muted")


def _hex(data: bytes) -> Iterator[Cell]:
    for start in range(0, len(data), _HEX_ROW):
        row = data[start : start + _HEX_ROW]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield (Span(f"{start:06x}  ", "muted"), Span(f"{row.hex(' '):<48}"), Span(text, "muted"))
