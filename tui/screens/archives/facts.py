"""What an archive says of itself: what was deleted, what of it is kept, is it intact, what referred to it, what now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import SECOND, ago, from_home, moment, size
from tui.glyphs import glyphs
from tui.looks import Tone
from tui.screens.archives.entries import Entry
from tui.screens.operations.steps import since, summary
from tui.text import safe
from tui.widgets.table import Cell, Span, cell

if TYPE_CHECKING:
    from services.archives import Count, Manifest

_LABEL = 12
_MOST = 500
_LONGEST = 2000


Keys = Callable[[str], str]
"""The key of an action, by its id, as people read it."""


@dataclass(frozen=True)
class Opened:
    """What is known of an archive once it was opened.

    Attributes:
        manifest: None when it cannot be read.
        problem: Why not, clean.
    """

    manifest: Manifest | None = None
    problem: str = ""


def fact_lines(entry: Entry, opened: Opened | None, now: int, key: Keys) -> Iterator[Cell]:
    """Write all that is known of an entry.

    Args:
        entry: Its row.
        opened: Its archive, once that was opened.
        now: Nanoseconds since 1970.
        key: Names keys of actions.
    """
    yield from _what_was_done(entry, now)
    if entry.archive is None:
        return
    manifest = opened.manifest if opened is not None else None
    yield from _intact(entry, opened, now, key)
    if manifest is not None:
        yield from _kept(manifest)
        yield from _references(manifest)
        yield from _missing(manifest)
    yield from _way_back(entry, key)
    if manifest is not None:
        yield from _agent(manifest)


def _what_was_done(entry: Entry, now: int) -> Iterator[Cell]:
    operation = entry.operation
    yield _fact("what", summary(operation) if operation is not None else f"{entry.kind} {entry.alias}", "strong")
    when = since(operation) if operation is not None else moment(entry.created_at)
    yield _fact("when", f"{when}, {ago(entry.created_at, now)} ago" if _long_ago(entry, now) else when)
    if entry.by:
        yield _fact("by", entry.by)
    if entry.note:
        yield _fact("note", entry.note, "warn")
    if operation is not None:
        yield _fact("operation", f"{safe(operation.id)}  {operation.state.value}")
    if entry.archive is not None:
        yield _fact("archive", safe(from_home(str(entry.archive.path))))


def _long_ago(entry: Entry, now: int) -> bool:
    return now - entry.created_at >= 5 * SECOND


def _intact(entry: Entry, opened: Opened | None, now: int, key: Keys) -> Iterator[Cell]:
    archive = entry.archive
    assert archive is not None
    yield cell("")
    if archive.state.value == "purged":
        yield _fact("intact", "nothing of it is kept: it was purged", "muted")
        return
    if opened is not None and opened.problem:
        yield _fact("intact", f"{glyphs().failed} {opened.problem}", "bad")
    elif archive.problem:
        yield _fact("intact", f"{glyphs().warning} {safe(archive.problem[:_LONGEST])}", "warn")
    if archive.verified_at is None:
        yield _fact("verified", f"never; {key('archive.verify')} recomputes every checksum", "warn")
    else:
        when = f"{moment(archive.verified_at)}, {ago(archive.verified_at, now)}"
        said, tone = ("every byte is as it was", "good") if archive.intact else ("something differs", "bad")
        sign = glyphs().done if archive.intact else glyphs().failed
        yield _fact("verified", f"{sign} {said}  ({when})", tone)  # type: ignore[arg-type]


def _kept(manifest: Manifest) -> Iterator[Cell]:
    yield cell("")
    yield cell("WHAT IS KEPT                before  kept  removed", "muted")
    for count in manifest.counts[:_MOST]:
        yield _count(count)
    yield cell("IN THESE FILES                items    size", "muted")
    for file in manifest.files[:_MOST]:
        items = f"{file.items:,}" if file.items else ""
        yield (Span(f"  {safe(file.name[:200]):<26}"), Span(f"{items:>7}  {size(file.size):>6}", "muted"))


def _count(count: Count) -> Cell:
    before = "?" if count.before < 0 else f"{count.before:,}"
    lost = count.before >= 0 and count.exported < count.before
    return (
        Span(f"  {safe(count.what[:40]):<24}"),
        Span(f"{before:>8}", "muted"),
        Span(f"{count.exported:>6,}", "bad" if lost else "good"),
        Span(f"{count.purged:>9,}", "muted"),
    )


def _references(manifest: Manifest) -> Iterator[Cell]:
    yield cell("")
    if not manifest.references:
        yield cell("WHAT REFERRED TO IT: nothing that was dropped", "muted")
        return
    yield cell("WHAT REFERRED TO IT, AND WAS DROPPED", "muted")
    for reference in manifest.references[:_MOST]:
        yield (
            Span(f"  {safe(reference.file[:200])}  "),
            Span(safe(reference.key[:200]), "strong"),
            Span(f" = {safe(reference.value[:200])}", "muted"),
        )


def _missing(manifest: Manifest) -> Iterator[Cell]:
    if manifest.left_out:
        yield cell("")
        yield cell("NOT KEPT, OR NOT SURELY AS IT WAS", "muted")
    for one in manifest.left_out[:_MOST]:
        yield (Span(f"  {safe(one.name[:_LONGEST])}  ", "warn"), Span(safe(f"{one.reason} {one.detail}".strip())))
    for warning in manifest.warnings[:_MOST]:
        yield (Span(f"{glyphs().warning} ", "warn"), Span(safe(warning[:_LONGEST])))


def _way_back(entry: Entry, key: Keys) -> Iterator[Cell]:
    archive = entry.archive
    assert archive is not None
    yield cell("")
    if entry.sealed:
        yield _fact("get it back", f"{key('archive.restore')} restores the agent, its files, memory or agent.toml")
        yield _fact("", f"or: pinfold archives restore {safe(archive.id)}", "muted")
    elif entry.retryable:
        yield _fact("next", f"{key('archive.retry')} completes the operation", "warn")
    elif archive.state.value != "purged":
        yield _fact("get it back", "it cannot be restored as it is; its files can be looked at", "warn")


def _agent(manifest: Manifest) -> Iterator[Cell]:
    yield cell("")
    agent, about = manifest.agent, manifest.archive
    for label, value in (
        ("asked by", about.actor),
        ("agent's id", agent.uuid),
        ("workspace", from_home(agent.workspace)),
        ("back-end", agent.backend),
        ("made with", ", ".join(f"{name} {version}" for name, version in sorted(about.tools.items()))),
    ):
        if value:
            yield _fact(label, safe(value[:_LONGEST]), "muted")


def _fact(label: str, text: str, tone: Tone = "") -> Cell:
    return (Span(f"{label:<{_LABEL}} ", "muted"), Span(text, tone))
