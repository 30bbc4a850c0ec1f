"""Archives and operations together, one row for what belongs together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.figures import SECOND
from tui.text import safe

if TYPE_CHECKING:
    from services.archives import Archive
    from services.operations import Operation

_AGES = {"": 0, "hour": 3600, "day": 86400, "week": 604800, "month": 2592000}
"""Seconds, by the word."""


@dataclass(frozen=True)
class Entry:
    """An operation with the archive it made, or one of them alone; in clean text.

    Attributes:
        key: The archive's id, else the operation's.
        kind: delete, rename or restore.
        state: The operation's until it is done, then the archive's.
        size: Bytes; 0 without an archive.
        created_at: Nanoseconds since 1970.
        by: Who asked; "" where only the archive itself knows.
        note: What is wrong, or what it gave.
        archive: What it made; None for one that makes none.
    """

    key: str
    kind: str
    alias: str
    state: str
    size: int
    created_at: int
    by: str
    note: str
    operation: Operation | None = None
    archive: Archive | None = None

    @property
    def readable(self) -> bool:
        """Whether its archive can be opened."""
        return self.archive is not None and self.archive.state.value in ("sealed", "unindexed", "damaged")

    @property
    def sealed(self) -> bool:
        """Whether its archive is complete and vouched for."""
        return self.archive is not None and self.archive.state.value == "sealed"

    @property
    def retryable(self) -> bool:
        """Whether its operation waits for a retry."""
        return self.operation is not None and self.operation.state.retryable

    @property
    def purgeable(self) -> bool:
        """Whether its archive can be removed."""
        return self.archive is not None and self.archive.state.value not in ("purged", "unsealed")


@dataclass(frozen=True)
class Narrowed:
    """Which entries are shown; "" is any.

    Attributes:
        older: Made longer ago than this: hour, day, week or month.
        purged: Those that were purged too.
    """

    kind: str = ""
    alias: str = ""
    state: str = ""
    older: str = ""

    def lets_through(self, entry: Entry, now: int) -> bool:
        """Whether an entry is shown; those purged only when they are asked for."""
        return (
            self.kind in ("", entry.kind)
            and self.alias in ("", entry.alias)
            and (self.state == entry.state or (not self.state and entry.state != "purged"))
            and (not self.older or entry.created_at <= now - _AGES[self.older] * SECOND)
        )

    @property
    def text(self) -> str:
        """What is left, in words; "" when that is everything."""
        older = f"older than a {self.older}".replace("a hour", "an hour") if self.older else ""
        return ", ".join(part for part in (self.kind, self.alias, self.state, older) if part)


def entries_of(archives: Iterable[Archive], operations: Sequence[Operation]) -> tuple[Entry, ...]:
    """Join archives with the operations that made them, the newest first."""
    made = {operation.archive: operation for operation in operations if operation.kind == "delete"}
    found = [*_of_archives(archives, made)]
    shown = {entry.operation.id for entry in found if entry.operation is not None}
    found += [_of_operation(operation) for operation in operations if operation.id not in shown]
    return tuple(sorted(found, key=lambda entry: (entry.created_at, entry.key), reverse=True))


def _of_archives(archives: Iterable[Archive], made: dict[str, Operation]) -> Iterator[Entry]:
    for archive in archives:
        operation = made.get(archive.id)
        unfinished = operation is not None and operation.state.unfinished
        yield Entry(
            key=archive.id,
            kind=archive.kind.value,
            alias=safe(archive.alias),
            state=operation.state.value if operation is not None and unfinished else archive.state.value,
            size=archive.size,
            created_at=archive.created_at,
            by=safe(operation.by) if operation is not None else "",
            note=safe(operation.detail[:500] if operation is not None and unfinished else archive.problem[:500]),
            operation=operation,
            archive=archive,
        )


def _of_operation(operation: Operation) -> Entry:
    target = f"to {operation.target}" if operation.kind == "rename" else ""
    if operation.kind == "restore":
        target = f"as {operation.target}, from {operation.archive}"
    return Entry(
        key=operation.id,
        kind=operation.kind,
        alias=safe(operation.alias),
        state=operation.state.value,
        size=0,
        created_at=operation.created_at,
        by=safe(operation.by),
        note=safe((operation.detail or target)[:500]),
        operation=operation,
    )
