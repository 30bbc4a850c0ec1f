"""The archives of a home: made, listed, verified, read, compared and purged."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from services.activity import ActivityLog
from services.archives.model import Archive, ArchiveDraft, ArchiveKind, ArchiveState, Work
from services.archives.reading.model import Comparison, Limits, LivingAgent, Verification
from services.archives.reading.opened import OpenArchive
from services.archives.writing.writer import ArchiveWriter
from services.home import BlockingCalls, Database, Home

_DEFAULT_LIMITS = Limits()


@dataclass(frozen=True)
class Wanted:
    """Which archives to list; an empty field is any.

    Attributes:
        older_than: Only those made at least so many seconds ago.
        purged: Also those that were purged.
    """

    alias: str = ""
    kind: ArchiveKind | None = None
    state: ArchiveState | None = None
    older_than: float = 0.0
    purged: bool = False


@dataclass(frozen=True)
class Retention:
    """Which archives are kept no longer; at least one field is set.

    Attributes:
        older_than: Those made more than so many seconds ago go.
        total_size: The oldest go until the others have at most so many bytes.
        alias: Only this agent's; "" is all.
    """

    older_than: float | None = None
    total_size: int | None = None
    alias: str = ""


class Archives:
    """The archives of a home.

    Args:
        home: Where they lie.
        database: Where the index is.
        activity: Told of what is purged.
        calls: Threads for disks and hashes.
        now: The clock, nanoseconds since 1970.
        limits: When an archive is taken for a bomb.
    """

    def __init__(
        self,
        home: Home,
        database: Database,
        activity: ActivityLog,
        calls: BlockingCalls,
        now: Callable[[], int] = time.time_ns,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        raise NotImplementedError

    async def create(self, draft: ArchiveDraft) -> ArchiveWriter:
        """Begin an archive in a directory of its own, whoever else begins one in the same second."""
        raise NotImplementedError

    async def resume(self, archive: str) -> ArchiveWriter:
        """Go on with an archive that was begun, also when it was sealed already.

        Raises:
            ArchiveNotFound: No archive of this id was begun.
            ArchiveDamaged: What is there of it cannot be gone on with.
        """
        raise NotImplementedError

    async def list(self, wanted: Wanted = Wanted()) -> list[Archive]:
        """List archives from the disk and the index, newest first; the state names those in one only."""
        raise NotImplementedError

    async def show(self, archive: str) -> Archive:
        """Find one archive.

        Raises:
            ArchiveNotFound: Neither the disk nor the index has it.
        """
        raise NotImplementedError

    async def open(self, archive: str) -> OpenArchive:
        """Open an archive for reading.

        Raises:
            ArchiveNotFound: It is not on the disk.
            ArchiveDamaged: Its manifest cannot be read.
        """
        raise NotImplementedError

    def verify(self, archive: str) -> Work[Verification]:
        """Recompute every checksum, and record what was found with its time."""
        raise NotImplementedError

    def compare(self, archive: str, other: str | LivingAgent) -> Work[Comparison]:
        """Set an archive against another one, by its id, or against a living agent."""
        raise NotImplementedError

    async def rename(self, alias: str, new: str) -> int:
        """Give an agent's archives in the index to its new alias, and count them; done again, it changes nothing."""
        raise NotImplementedError

    def purge(self, archive: str, typed_alias: str, *, actor: str = "operator") -> Work[Archive]:
        """Remove an archive for good; its row stays in the index, and activity tells of it.

        Args:
            archive: Its id.
            typed_alias: The alias as whoever asks for it has typed it.
            actor: Who asked.

        Raises:
            ArchiveNotFound: There is no such archive.
            ArchiveRefused: The alias is not the archive's, or it is still being made.
        """
        raise NotImplementedError

    async def expired(self, retention: Retention) -> tuple[Archive, ...]:
        """List the sealed archives that are kept no longer, the oldest first; removes none."""
        raise NotImplementedError
