"""The rows of the table of memory, in clean text with secrets hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from services.memory import masked, scan
from tui.screens.memory.places import (
    LABEL,
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    OpenContexts,
    Place,
    ScopeKeys,
    StepsOf,
    shown_name,
)
from tui.text import safe

if TYPE_CHECKING:
    from services.memory import ArchiveEntry, BlockText, Context, Entry, Row, Step

PREVIEW = 200


@dataclass(frozen=True)
class Item:
    """One row.

    Attributes:
        place: Where it is.
        id: Names it in its place.
        name: What it is called, clean.
        type: What kind of thing it is.
        preview: The beginning of its content, clean, secrets hidden.
        size: Bytes, or characters of a core block.
        of: What the services told of it.
        findings: Names of what the scan found.
        expires_at, updated_at: Nanoseconds since 1970.
        note: How it stands, such as that it was superseded.
        state: A word for a context or step.
    """

    place: Place
    id: str
    name: str
    type: str
    preview: str
    size: int
    of: Any
    findings: tuple[str, ...] = ()
    expires_at: int | None = None
    updated_at: int | None = None
    category: str = ""
    session: str = ""
    importance: float | None = None
    pinned: bool = False
    superseded: bool = False
    withheld: bool = False
    state: str = ""

    @property
    def key(self) -> str:
        """Names it among the rows of any place."""
        return f"{self.place!r}\0{self.id}"


def hidden(text: str, *, reveal: bool) -> tuple[str, tuple[str, ...]]:
    """A text as it may be drawn, not clean yet, and the names of what the scan found in it."""
    findings = scan(text)
    names = tuple(sorted({finding.name.replace("_", " ") for finding in findings}))
    secret = any(finding.family == "secret" for finding in findings)
    return (masked(text) if secret and not reveal else text), names


def _beginning(text: str, *, reveal: bool) -> tuple[str, tuple[str, ...]]:
    shown, names = hidden(text[:PREVIEW], reveal=reveal)
    return safe(shown), names


def key_name(key: str, *, reveal: bool) -> str:
    """A key as it is drawn, secrets in it hidden."""
    if len(key) <= LABEL:
        return safe(hidden(key, reveal=reveal)[0])
    return f"{safe(hidden(key[:LABEL], reveal=reveal)[0])}({len(key):,} characters)"


def key_item(place: ScopeKeys, entry: Entry, *, reveal: bool) -> Item:
    """The row of a key."""
    preview, findings = _beginning(entry.preview, reveal=reveal)
    return Item(
        place=place,
        id=entry.key,
        name=key_name(entry.key, reveal=reveal),
        type=f"list of {entry.length:,}" if entry.kind == "list" else entry.kind,
        preview=preview,
        size=entry.size,
        of=entry,
        findings=findings,
        expires_at=entry.expires_at,
        updated_at=entry.updated_at,
    )


def row_item(place: AgentRows, row: Row, *, reveal: bool) -> Item:
    """The row of something an agent stored."""
    preview, _ = _beginning(row.content, reveal=reveal)
    return Item(
        place=place,
        id=row.key,
        name=key_name(row.key, reveal=reveal),
        type="memory",
        preview=preview,
        size=len(row.content.encode(errors="replace")),
        of=row,
        findings=tuple(safe(name).replace("_", " ") for name in row.findings),
        updated_at=row.updated_at,
        category=safe(row.category),
        session=safe(row.session[:PREVIEW]),
        importance=row.importance,
        pinned=row.pinned,
        superseded=bool(row.superseded_by),
        withheld=row.withheld,
    )


def block_item(place: CoreBlocksOf, text: BlockText, *, reveal: bool) -> Item:
    """The row of a core block."""
    preview, findings = _beginning(text.content, reveal=reveal)
    return Item(
        place=place,
        id=text.block.value,
        name=text.block.heading,
        type="core block",
        preview=preview,
        size=len(text.content),
        of=text,
        findings=findings,
        updated_at=text.updated_at or None,
    )


def entry_item(place: ArchiveOf, entry: ArchiveEntry, *, reveal: bool) -> Item:
    """The row of an archive entry."""
    preview, findings = _beginning(entry.content, reveal=reveal)
    return Item(
        place=place,
        id=entry.id,
        name=preview,
        type="archive entry",
        preview=preview,
        size=len(entry.content.encode(errors="replace")),
        of=entry,
        findings=findings,
        updated_at=entry.created_at,
    )


def context_item(place: OpenContexts, context: Context) -> Item:
    """The row of a context."""
    about = "  ".join(
        f"{word} {safe(text[:PREVIEW])}"
        for word, text in (
            ("agent", context.agent),
            ("chat", context.chat),
            ("request", context.request),
            ("forked from", context.parent),
            ("resumes", context.resumes),
        )
        if text
    )
    return Item(
        place=place,
        id=context.id,
        name=shown_name(context.id),
        type="context",
        preview=about,
        size=0,
        of=context,
        updated_at=context.ended_at or context.created_at,
        state=context.state,
    )


def step_item(place: StepsOf, step: Step) -> Item:
    """The row of a step."""
    state = "resumed" if step.used_at is not None else step.state
    return Item(
        place=place,
        id=step.id,
        name=f"{'  ' * min(step.depth, 8)}{step.number} {step.type.value}",
        type="step",
        preview=safe((step.error or str(step.input))[:PREVIEW]),
        size=0,
        of=step,
        updated_at=step.ended_at or step.started_at,
        state=state,
    )
