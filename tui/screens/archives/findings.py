"""What verifying and comparing an archive found, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui.figures import counted, moment, size
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.text import safe
from tui.widgets.table import Cell, Span, cell

if TYPE_CHECKING:
    from services.archives import Change, Comparison, FileChange, KeptFile, Progress, RowChange, Verification

_MOST = 10_000
_LONGEST = 2000
_SIGNS: dict[str, tuple[str, Tone]] = {"added": ("+", "good"), "removed": ("-", "bad"), "changed": ("~", "warn")}


def progress_text(progress: Progress | None) -> str:
    """How far some work on an archive is: `43%`, or how much was read; clean."""
    if progress is None:
        return "0%"
    if progress.total_size:
        return f"{min(100 * progress.size // progress.total_size, 100)}%"
    if progress.total_items:
        return f"{min(100 * progress.items // progress.total_items, 100)}%"
    return size(progress.size)


def progress_lines(what: str, progress: Progress | None) -> Iterator[Cell]:
    """Write how far some work is.

    Args:
        what: What is done, clean.
        progress: What was told last.
    """
    yield (Span(f"{glyphs().busy} {what}  ", "accent"), Span(progress_text(progress), "strong"))
    if progress is not None:
        amounts = [counted(progress.items, "item") if progress.items else "", size(progress.size)]
        yield cell(f"  {safe(progress.doing[:_LONGEST])}  {', '.join(part for part in amounts if part)}", "muted")


def verification_lines(found: Verification, files: tuple[KeptFile, ...]) -> Iterator[Cell]:
    """Write what verifying found, file by file; blocks while there are many.

    Args:
        found: What came of it.
        files: What the manifest says was kept.
    """
    read = f"{counted(found.files, 'file')} read, {size(found.size)}, at {moment(found.at)}"
    if found.intact:
        yield (Span(f"{glyphs().done} intact  ", "good"), Span("every byte is as it was when it was sealed"))
    else:
        yield cell(f"{glyphs().failed} not intact: {counted(len(found.findings), 'finding')}", "bad")
    yield cell(read, "muted")
    yield cell("")
    named = {finding.name for finding in found.findings}
    for finding in found.findings[:_MOST]:
        yield (
            Span(f"{glyphs().failed} {finding.kind.value:<10} ", "bad"),
            Span(f"{safe(finding.name[:_LONGEST])}  "),
            Span(safe(finding.why[:_LONGEST]), "muted"),
        )
    for file in files[:_MOST]:
        if file.name not in named:
            yield (
                Span(f"{glyphs().done} as it was   ", "good"),
                Span(f"{safe(file.name[:_LONGEST])}  "),
                Span(size(file.size), "muted"),
            )


def comparison_lines(found: Comparison) -> Iterator[Cell]:
    """Write how the other side differs from the archive; blocks while there is much."""
    yield (Span(f"{safe(found.archive)} against {safe(found.other)}", "strong"),)
    if found.same:
        yield cell(f"{glyphs().done} nothing differs", "good")
    yield cell("")
    yield cell("AGENT.TOML" if found.config else "AGENT.TOML: the same", "muted")
    for line in found.config.splitlines()[2:_MOST]:
        tone: Tone = {"+": "good", "-": "bad"}.get(line[:1], "muted")  # type: ignore[assignment]
        yield cell(f"  {safe(line[:_LONGEST])}", tone)
    yield cell("")
    yield cell(_heading("FILES", len(found.files) + found.more_files, found.same_files), "muted")
    for file in found.files[:_MOST]:
        yield _file(file)
    if found.more_files:
        yield cell(f"  and {found.more_files:,} more", "muted")
    yield cell("")
    yield cell(_heading("MEMORIES", len(found.rows) + found.more_rows, found.same_rows), "muted")
    for row in found.rows[:_MOST]:
        yield from _row(row)
    if found.more_rows:
        yield cell(f"  and {found.more_rows:,} more", "muted")
    yield from _not_compared(found)


def _heading(what: str, different: int, same: int) -> str:
    return f"{what}: {different:,} differ, {same:,} the same" if different else f"{what}: {same:,}, all the same"


def _sign(change: Change) -> Span:
    sign, tone = _SIGNS[change.value]
    return Span(f"  {sign} ", tone)


def _file(change: FileChange) -> Cell:
    before = size(change.before.size) if change.before is not None else ""
    after = size(change.after.size) if change.after is not None else ""
    arrow = "->" if glyphs().ascii else "→"
    sizes = f"{before} {arrow} {after}" if before and after else before or after
    return (_sign(change.change), Span(safe(change.path[:_LONGEST])), Span(f"  {sizes}", "muted"))


def _row(change: RowChange) -> Iterator[Cell]:
    yield (_sign(change.change), Span(safe(change.key[:200]), "strong"))
    if change.before:
        yield cell(f"      - {safe(change.before[:400])}", "bad")
    if change.after:
        yield cell(f"      + {safe(change.after[:400])}", "good")


def _not_compared(found: Comparison) -> Iterator[Cell]:
    if not (found.refused or found.omitted):
        return
    yield cell("")
    yield cell("NOT COMPARED", "muted")
    for refused in found.refused[:_MOST]:
        yield (Span(f"  {safe(refused.name[:_LONGEST])}  ", "warn"), Span(refused.reason.value, "muted"))
    for omitted in found.omitted[:_MOST]:
        yield cell(f"  {safe(omitted[:_LONGEST])}", "warn")
