"""The rows of the table of memory, in clean text with secrets hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.screens.memory.hiding import beginning, key_name, shown_name
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    OpenContexts,
    Place,
    ScopeKeys,
    StepsOf,
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


def key_item(place: ScopeKeys, entry: Entry, *, reveal: bool) -> Item:
    """The row of a key."""
    preview, findings = beginning(entry.preview, PREVIEW, reveal=reveal, cut=len(entry.preview) >= PREVIEW)
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
    preview, _ = beginning(row.content, PREVIEW, reveal=reveal)
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
        session=beginning(row.session, PREVIEW, reveal=reveal)[0],
        importance=row.importance,
        pinned=row.pinned,
        superseded=bool(row.superseded_by),
        withheld=row.withheld,
    )


def block_item(place: CoreBlocksOf, text: BlockText, *, reveal: bool) -> Item:
    """The row of a core block."""
    preview, findings = beginning(text.content, PREVIEW, reveal=reveal)
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
    preview, findings = beginning(entry.content, PREVIEW, reveal=reveal)
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
        f"{word} {shown_name(text)}"
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


def step_item(place: StepsOf, step: Step, *, reveal: bool) -> Item:
    """The row of a step."""
    state = "resumed" if step.used_at is not None else step.state
    return Item(
        place=place,
        id=step.id,
        name=f"{'  ' * min(step.depth, 8)}{step.number} {step.type.value}",
        type="step",
        preview=beginning(step.error or str(step.input), PREVIEW, reveal=reveal)[0],
        size=0,
        of=step,
        updated_at=step.ended_at or step.started_at,
        state=state,
    )
