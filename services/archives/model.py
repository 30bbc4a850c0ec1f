"""Archives, and how work on them is told, as everyone sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ArchiveKind(StrEnum):
    """Which operation made an archive."""

    DELETE = "delete"
    RENAME = "rename"
    RESTORE = "restore"
    """What a restore replaced."""


class ArchiveState(StrEnum):
    """Where an archive is; the value is the word shown."""

    UNSEALED = "unsealed"
    """Being made, or left behind by an operation that has not ended."""
    SEALED = "sealed"
    MISSING = "missing"
    """In the index and not on the disk."""
    UNINDEXED = "unindexed"
    """On the disk and not in the index, so nothing vouches for its manifest."""
    DAMAGED = "damaged"
    """On the disk and not fit to be read: a link, no directory, or a manifest that is none."""
    PURGED = "purged"


@dataclass(frozen=True)
class Archive:
    """An archive as a list shows it.

    Attributes:
        id: The name of its directory.
        alias: The agent's; the newest alias when the agent was renamed since.
        uuid: The agent's id in memory; "" when it had none.
        created_at: Nanoseconds since 1970.
        size: Bytes of all its files; 0 until it is sealed.
        verified_at: Nanoseconds since 1970 of the last verification; None when there was none.
        intact: What that found; None when there was none.
        problem: What is wrong with it, a clause for people; "" when nothing is known to be.
    """

    id: str
    path: Path
    alias: str
    uuid: str
    kind: ArchiveKind
    state: ArchiveState
    created_at: int
    size: int = 0
    verified_at: int | None = None
    intact: bool | None = None
    problem: str = ""


@dataclass(frozen=True)
class ArchiveDraft:
    """An archive about to be made.

    Attributes:
        uuid: The agent's id in memory, or "".
        actor: Who asked for it: `operator`, `pinfold` or `agent:<alias>`.
        workspace: Where the workspace lies, for whoever restores it.
        backend: The back-end the agent's memory was in.
    """

    kind: ArchiveKind
    alias: str
    uuid: str = ""
    actor: str = "operator"
    workspace: str = ""
    backend: str = ""


@dataclass(frozen=True)
class Progress:
    """How far some work is, told at least ten times a second.

    Attributes:
        doing: The file or part at hand.
        items: Files or rows done.
        size: Bytes done.
        total_items: Of all, 0 while that is unknown.
        total_size: Of all, 0 while that is unknown.
    """

    doing: str
    items: int
    size: int
    total_items: int = 0
    total_size: int = 0


@dataclass(frozen=True)
class Done(Generic[T_co]):
    """The last thing that is told of some work."""

    result: T_co


Work = AsyncGenerator[Progress | Done[T], None]
"""Work that tells how far it is, and last what came of it. Closing it early cancels it."""


async def result_of(work: Work[T]) -> T:
    """Do some work whose progress nobody looks at."""
    async with aclosing(work) as told:
        async for event in told:
            if isinstance(event, Done):
                return event.result
    raise AssertionError("the work ended without a result")


class Omission(StrEnum):
    """Why something of a workspace is not, or not surely, in an archive as it is on the disk."""

    SOCKET = "a socket"
    FIFO = "a named pipe"
    DEVICE = "a device"
    UNREADABLE = "unreadable"
    VANISHED = "vanished while it was packed"
    CHANGED = "changed while it was packed"
    APPEARED = "appeared while it was packed"
    TOO_DEEP = "too many folders deep"
    ATTRIBUTE = "has attributes that are not kept"

    @property
    def by_nature(self) -> bool:
        """Whether it holds nothing that could be kept, so that leaving it out loses nothing."""
        return self in (Omission.SOCKET, Omission.FIFO, Omission.DEVICE, Omission.ATTRIBUTE)


@dataclass(frozen=True)
class Omitted:
    r"""Something of a workspace that was left out, or may differ from what is on the disk.

    Attributes:
        name: Its path below the workspace, `.` for that itself; what is not UTF-8 in it is written as `\xff`.
        detail: More for people, or "".
    """

    name: str
    reason: Omission
    detail: str = ""


@dataclass(frozen=True)
class Part:
    """One file of an archive, written, synced, read back and found to be what was written.

    Attributes:
        name: Its path in the archive.
        items: Rows, files or sessions in it.
        size: Bytes.
        sha256: 64 hex digits.
        omitted: What was left out of it.
    """

    name: str
    items: int
    size: int
    sha256: str
    omitted: tuple[Omitted, ...] = ()

    @property
    def losses(self) -> tuple[Omitted, ...]:
        """What was left out that could have been kept: a reason not to remove what was packed."""
        return tuple(one for one in self.omitted if not one.reason.by_nature)
