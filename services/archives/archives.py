"""The archives of a home: made, listed, verified, read, compared and purged."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from services.activity import ActivityLog, Events
from services.agents import alias_fault
from services.archives import layout
from services.archives.index import Index, Indexed
from services.archives.listing import OnDisk, find_on_disk, on_disk, together
from services.archives.model import Archive, ArchiveDraft, ArchiveKind, ArchiveState, Work
from services.archives.purging import Retention, beyond, remove
from services.archives.reading.checksums import Sums, read_sums
from services.archives.reading.comparison import compared
from services.archives.reading.files import Folder
from services.archives.reading.model import Comparison, Finding, Limits, LivingAgent, Verification
from services.archives.reading.opened import OpenArchive
from services.archives.reading.verifying import verify
from services.archives.working import Gauge, explained, told
from services.archives.writing.files import sync_directory
from services.archives.writing.ledger import Beginning, Ledger
from services.archives.writing.sealing import end_ledger
from services.archives.writing.writer import ArchiveWriter
from services.errors import ArchiveDamaged, ArchiveError, ArchiveNotFound, ArchiveRefused
from services.home import BlockingCalls, Database, Home, make_directory

_DEFAULT_LIMITS = Limits()
_SECOND = 1_000_000_000
_MOST_A_SECOND = 100_000


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


_ALL = Wanted()


class Archives:
    """The archives of a home.

    Args:
        home: Where they lie.
        database: Where the index is.
        activity: Told of what is purged and verified.
        events: Told when activity grew.
        calls: Threads for disks and hashes.
        now: The clock, nanoseconds since 1970.
        limits: When an archive is taken for a bomb.
    """

    def __init__(
        self,
        home: Home,
        database: Database,
        activity: ActivityLog,
        events: Events,
        calls: BlockingCalls,
        now: Callable[[], int] = time.time_ns,
        limits: Limits = _DEFAULT_LIMITS,
    ) -> None:
        self._directory = home.archives_dir
        self._index = Index(database, activity, events, now)
        self._calls = calls
        self._now = now
        self._limits = limits

    async def create(self, draft: ArchiveDraft) -> ArchiveWriter:
        """Begin an archive in a directory of its own, whoever else begins one in the same second.

        Raises:
            ArchiveRefused: The alias cannot be one.
            ArchiveError: The disk refuses.
        """
        if fault := alias_fault(draft.alias):
            raise ArchiveRefused(f"cannot make an archive of {draft.alias!r}", why=fault)
        now = self._now()
        for number in range(_MOST_A_SECOND):
            id = layout.archive_name(draft.alias, now, number)
            try:
                ledger = await self._calls.run(self._begin, id, Beginning(draft, now))
            except OSError as error:
                raise explained(error, f"cannot begin the archive {id}") from error
            if ledger is None:
                continue
            if await self._index.begin(id, draft, now):
                return self._writer(await self.show(id), ledger)
            await self._calls.run(shutil.rmtree, ledger.directory)
        raise ArchiveError(f"cannot begin an archive of {draft.alias}", why="too many were begun in this second")

    async def resume(self, archive: str) -> ArchiveWriter:
        """Go on with an archive that was begun, also when it was sealed already.

        Raises:
            ArchiveNotFound: No archive of this id was begun, or it is not on the disk.
            ArchiveDamaged: What is there of it cannot be gone on with.
        """
        found = await self.show(archive)
        try:
            if found.state is ArchiveState.UNSEALED and found.path.name != archive:
                ledger = await self._calls.run(Ledger.load, found.path)
                await self._index.begin(archive, ledger.beginning.draft, ledger.beginning.at)
                return self._writer(found, ledger)
            if found.state in (ArchiveState.UNSEALED, ArchiveState.SEALED):
                await self._calls.run(end_ledger, found.path)
                return self._writer(found, None)
        except OSError as error:
            raise explained(error, f"cannot go on with the archive {archive}") from error
        raise ArchiveDamaged(f"cannot go on with the archive {archive}", why=found.problem or "it was purged")

    async def list(self, wanted: Wanted = _ALL) -> list[Archive]:
        """List archives from the disk and the index, newest first; the state names those in one only."""
        rows = await self._index.all()
        disk = await self._calls.run(on_disk, self._directory, rows, self._limits)
        archives = [together(self._directory, rows.get(id), disk.get(id)) for id in rows.keys() | disk.keys()]
        latest = self._now() - int(wanted.older_than * _SECOND) if wanted.older_than else None
        chosen = [archive for archive in archives if _is_wanted(archive, wanted, latest)]
        return sorted(chosen, key=lambda archive: (archive.created_at, archive.id), reverse=True)

    async def show(self, archive: str) -> Archive:
        """Find one archive.

        Raises:
            ArchiveNotFound: Neither the disk nor the index has it.
        """
        row, disk = await self._find(archive)
        if row is None and disk is None:
            raise ArchiveNotFound(
                f"there is no archive {archive}", fix="`pinfold archives list` names those there are."
            )
        return together(self._directory, row, disk)

    async def open(self, archive: str) -> OpenArchive:
        """Open an archive for reading.

        Raises:
            ArchiveNotFound: It is not on the disk.
            ArchiveDamaged: Its manifest cannot be read.
        """
        row, disk = await self._find(archive)
        if disk is None or disk.partial:
            raise _not_there(archive, row)
        if disk.problem and disk.manifest is None:
            raise ArchiveDamaged(f"cannot read the archive {archive}", why=disk.problem)
        expected = row.manifest if row else ""
        sums = await self._calls.run(_sums_of, disk.path, expected, self._limits)
        if sums.manifest is None:
            raise ArchiveDamaged(f"cannot read the manifest of {archive}", why=sums.findings[-1].why)
        vouched = not any(finding.name == layout.MANIFEST for finding in sums.findings)
        found = together(self._directory, row, disk)
        return OpenArchive(found, sums.manifest, vouched, sums, self._calls, self._limits)

    def verify(self, archive: str) -> Work[Verification]:
        """Recompute every checksum, and record what was found with its time.

        Raises:
            ArchiveNotFound: It is not on the disk.
            ArchiveDamaged: It is no directory.
        """
        return told(f"cannot verify {archive}", lambda gauge: self._verify(archive, gauge))

    def compare(self, archive: str, other: str | LivingAgent) -> Work[Comparison]:
        """Set an archive against another one, by its id, or against a living agent.

        Raises:
            ArchiveNotFound: One is not on the disk.
            ArchiveDamaged: One cannot be read.
        """

        async def compare(gauge: Gauge) -> Comparison:
            before = await self.open(archive)
            after = await self.open(other) if isinstance(other, str) else other
            return await compared(before, after, self._calls, gauge)

        return told(f"cannot compare {archive}", compare)

    async def rename(self, alias: str, new: str) -> int:
        """Give an agent's archives in the index to its new alias, and count them; done again, it changes nothing."""
        return await self._index.rename(alias, new)

    def purge(self, archive: str, typed_alias: str, *, actor: str = "operator") -> Work[Archive]:
        """Remove an archive for good; its row stays in the index, and activity tells of it.

        Args:
            archive: Its id.
            typed_alias: The alias as whoever asks for it has typed it.
            actor: Who asked.

        Raises:
            ArchiveNotFound: There is no such archive.
            ArchiveRefused: The alias is not the archive's, or an operation still needs it.
        """
        return told(f"cannot purge {archive}", lambda gauge: self._purge(archive, typed_alias, actor, gauge))

    async def expired(self, retention: Retention) -> tuple[Archive, ...]:
        """List the sealed archives that are kept no longer, the oldest first; removes none.

        Raises:
            ArchiveRefused: It does not say what is kept.
        """
        if retention.older_than is None and retention.total_size is None:
            raise ArchiveRefused("nothing says which archives are kept", fix="Name an age or a size.")
        sealed = await self.list(Wanted(alias=retention.alias, state=ArchiveState.SEALED))
        return tuple(reversed(beyond(sealed, retention, self._now())))

    async def _verify(self, archive: str, gauge: Gauge) -> Verification:
        row, disk = await self._find(archive)
        if disk is None or disk.partial:
            raise _not_there(archive, row)
        found = together(self._directory, row, disk)
        expected = row.manifest if row else ""
        findings, files, size = await self._calls.run(_verified, disk.path, expected, self._limits, gauge)
        now = self._now()
        await self._index.verified(archive, found.alias, now, len(findings))
        return Verification(archive, now, files, size, findings)

    async def _purge(self, archive: str, typed_alias: str, actor: str, gauge: Gauge) -> Archive:
        found = await self.show(archive)
        if typed_alias != found.alias:
            raise ArchiveRefused(f"{archive} was not purged", why=f"it is of {found.alias or 'an unknown agent'}")
        if found.state is ArchiveState.UNSEALED and await self._index.find(archive) is not None:
            raise ArchiveRefused(f"{archive} was not purged", why=found.problem)
        if found.state is ArchiveState.PURGED:
            return found
        gauge.begin("removing", total_size=found.size)
        await self._calls.run(remove, found.path, self._directory / layout.purged_name(archive), gauge)
        await self._index.purged(archive, found.alias, actor, f"{archive}: {found.size:,} bytes")
        return dataclasses.replace(found, state=ArchiveState.PURGED, problem="")

    def _begin(self, id: str, beginning: Beginning) -> Ledger | None:
        make_directory(self._directory)
        partial = self._directory / layout.partial_name(id)
        try:
            partial.mkdir(mode=0o700)
        except FileExistsError:
            return None
        if os.path.lexists(self._directory / id):
            partial.rmdir()
            return None
        sync_directory(self._directory)
        return Ledger.begin(partial, beginning)

    def _writer(self, archive: Archive, ledger: Ledger | None) -> ArchiveWriter:
        path = self._directory / archive.id
        return ArchiveWriter(dataclasses.replace(archive, path=path), ledger, self._index, self._calls, self._now)

    async def _find(self, archive: str) -> tuple[Indexed | None, OnDisk | None]:
        row = await self._index.find(archive)
        known = {archive: row} if row else {}
        return row, await self._calls.run(find_on_disk, self._directory, archive, known, self._limits)


def _not_there(archive: str, row: Indexed | None) -> ArchiveNotFound:
    return ArchiveNotFound(
        f"there is no archive {archive}", why="it is in the index and not on the disk" if row else ""
    )


def _sums_of(path: Path, expected: str, limits: Limits) -> Sums:
    with Folder.open(path) as folder:
        return read_sums(folder, expected, limits)


def _verified(path: Path, expected: str, limits: Limits, gauge: Gauge) -> tuple[tuple[Finding, ...], int, int]:
    with Folder.open(path) as folder:
        return verify(folder, expected, limits, gauge)


def _is_wanted(archive: Archive, wanted: Wanted, latest: int | None) -> bool:
    return (
        wanted.alias in ("", archive.alias)
        and wanted.kind in (None, archive.kind)
        and wanted.state in (None, archive.state)
        and (latest is None or archive.created_at <= latest)
        and (wanted.purged or wanted.state is ArchiveState.PURGED or archive.state is not ArchiveState.PURGED)
    )
