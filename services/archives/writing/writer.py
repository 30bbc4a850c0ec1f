"""Makes one archive: part after part into a hidden directory, which gets its name when it is sealed."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from services.archives import layout
from services.archives.index import Index
from services.archives.listing import sum_and_size
from services.archives.manifest import Sealing
from services.archives.model import Archive, ArchiveDraft, ArchiveState, Done, Omitted, Part, Progress, Work
from services.archives.tars.compression import preferred_tar
from services.archives.working import Gauge, explained, told
from services.archives.writing.core import archive_entries_of, core_blocks_of
from services.archives.writing.files import FileSum, write_checked
from services.archives.writing.ledger import Ledger, Written
from services.archives.writing.recheck import differing
from services.archives.writing.rows import write_rows
from services.archives.writing.sealing import seal_files, tool_versions
from services.archives.writing.sessions import keep_session
from services.archives.writing.workspace import pack
from services.errors import ArchiveError, ArchiveRefused
from services.home import BlockingCalls
from services.memory import CoreMemory, Row, Scope, Tenant, Transfer

Writing = Callable[[Gauge], Awaitable[tuple[Part, tuple[FileSum, ...]]]]


class ArchiveWriter:
    """An archive being made.

    Every part is written, synced to the disk, read back, counted and hashed before it counts as there. A part that is
    there is not written again, so that an operation that is resumed goes on where it was; `drop` makes it be.

    Args:
        archive: As the index has it.
        ledger: What is there so far; None once the archive is sealed.
        index: The home's.
        calls: Threads for disks and hashes.
        now: The clock, nanoseconds since 1970.
    """

    def __init__(
        self, archive: Archive, ledger: Ledger | None, index: Index, calls: BlockingCalls, now: Callable[[], int]
    ) -> None:
        self._archive = archive
        self._ledger = ledger
        self._index = index
        self._calls = calls
        self._now = now

    @property
    def id(self) -> str:
        """The name the archive will have."""
        return self._archive.id

    @property
    def sealed(self) -> bool:
        """Whether it is complete and has its name."""
        return self._ledger is None

    @property
    def directory(self) -> Path:
        """Where its files are now."""
        return self._archive.path if self._ledger is None else self._ledger.directory

    @property
    def draft(self) -> ArchiveDraft:
        """What it is made for.

        Raises:
            ArchiveRefused: It is sealed.
        """
        return self._unsealed().beginning.draft

    @property
    def parts(self) -> dict[str, Part]:
        """What is there, by the part's name; empty once it is sealed."""
        return {name: written.part for name, written in self._ledger.written.items()} if self._ledger else {}

    @property
    def workspace(self) -> Part | None:
        """The workspace's tar, once it is packed."""
        return next((part for name, part in self.parts.items() if name in layout.WORKSPACE_TARS), None)

    def write_agent_file(self, data: bytes) -> Work[Part]:
        """Keep `agent.toml` byte for byte."""

        async def write(_: Gauge) -> tuple[Part, tuple[FileSum, ...]]:
            kept = await self._calls.run(write_checked, self.directory, layout.AGENT_FILE, data)
            return _part(kept, 1), (kept,)

        return self._part(layout.AGENT_FILE, write)

    def pack_workspace(self, workspace: Path) -> Work[Part]:
        """Pack a workspace; a directory that is not there is packed as one without anything in it.

        Whoever goes on to remove the workspace looks at `Part.losses` first.
        """
        there = self.workspace
        name = there.name if there else preferred_tar()

        async def write(gauge: Gauge) -> tuple[Part, tuple[FileSum, ...]]:
            packed = await self._calls.run(pack, self.directory, name, workspace, gauge)
            return _part(packed.tar, packed.items, omitted=packed.omitted), (packed.tar, packed.list)

        return self._part(name, write)

    def write_memory(self, pages: AsyncIterable[Sequence[Row]], expected: int = 0) -> Work[Part]:
        """Keep rows of agent memory, as `AgentMemory.read_out()` yields them.

        Args:
            pages: The rows.
            expected: How many there will be, for the progress; 0 is unknown.
        """
        return self._rows(layout.MEMORY, pages, expected)

    def write_core_blocks(self, core: CoreMemory, tenants: Sequence[Tenant]) -> Work[Part]:
        """Keep the core blocks of tenants with their history."""
        return self._rows(layout.CORE_BLOCKS, core_blocks_of(core, tenants), len(tenants))

    def write_archive_entries(self, core: CoreMemory, tenants: Sequence[Tenant]) -> Work[Part]:
        """Keep what tenants put away."""
        return self._rows(layout.ARCHIVE_ENTRIES, archive_entries_of(core, tenants))

    def write_scopes(self, transfer: Transfer, scopes: Sequence[Scope]) -> Work[Part]:
        """Keep the keys of scopes; none are no keys."""
        return self._rows(layout.SCOPES, transfer.export(scopes) if scopes else _nothing())

    def write_session(self, session: str, record: bytes, output: Path) -> Work[Part]:
        """Keep a session's record and its spool as the part `sessions/<id>`; its items are files.

        Args:
            session: Its id.
            record: JSON: the session's row with its steps.
            output: The directory of its spool; need not be there.

        Raises:
            ArchiveError: The id cannot be the name of a folder.
        """
        if not layout.is_session_name(session):
            raise ArchiveError(f"cannot keep the session {session!r}", why="its id cannot be the name of a folder")

        async def write(gauge: Gauge) -> tuple[Part, tuple[FileSum, ...]]:
            files = await self._calls.run(keep_session, self.directory, session, record, output, gauge)
            return Part(name, len(files), sum(file.size for file in files), files[0].sha256), files

        name = f"{layout.SESSIONS}/{session}"
        return self._part(name, write)

    async def drop(self, part: str) -> None:
        """Let a part be written anew; one that is not there is no error."""
        try:
            await self._calls.run(self._unsealed().drop, part)
        except OSError as error:
            raise explained(error, f"cannot remove {part} of the archive {self.id}") from error

    def recheck(self) -> Work[tuple[str, ...]]:
        """Read every part once more; the result names the files that are not as they were written."""
        ledger = self._unsealed()
        return told(
            f"cannot read the archive {self.id}",
            lambda gauge: self._calls.run(differing, ledger.directory, ledger.files(), gauge),
        )

    async def seal(self, sealing: Sealing) -> Archive:
        """Write manifest, README and checksums, and give the archive its name; done again, it changes nothing.

        Raises:
            ArchiveError: The disk refuses.
        """
        if self._ledger is not None:
            versions = tool_versions()
            try:
                await self._calls.run(seal_files, self._archive, self._ledger, sealing, versions, self._now())
            except OSError as error:
                raise explained(error, f"cannot seal the archive {self.id}") from error
            self._ledger = None
        manifest, size = await self._calls.run(sum_and_size, self.directory)
        await self._index.seal(self.id, manifest, size)
        self._archive = dataclasses.replace(self._archive, state=ArchiveState.SEALED, size=size, problem="")
        return self._archive

    async def discard(self) -> None:
        """Remove what was written.

        Raises:
            ArchiveRefused: It is sealed.
        """
        directory = self._unsealed().directory
        await self._index.forget(self.id)  # first, so that what is left of the directory may be purged
        try:
            await self._calls.run(shutil.rmtree, directory)
        except OSError as error:
            raise explained(error, f"cannot remove the unfinished archive {self.id}") from error

    def _rows(self, name: str, pages: AsyncIterable[Sequence[msgspec.Struct]], expected: int = 0) -> Work[Part]:
        async def write(gauge: Gauge) -> tuple[Part, tuple[FileSum, ...]]:
            gauge.begin(name, total_items=expected)
            kept, count = await write_rows(self._calls, self.directory, name, pages, gauge)
            return _part(kept, count), (kept,)

        return self._part(name, write)

    async def _part(self, name: str, write: Writing) -> AsyncGenerator[Progress | Done[Part], None]:
        ledger = self._unsealed()
        if name in ledger.written:
            yield Done(ledger.written[name].part)
            return

        async def written(gauge: Gauge) -> Part:
            part, files = await write(gauge)
            await self._calls.run(ledger.add, Written(part, files))
            return part

        async with aclosing(told(f"cannot write {name} of the archive {self.id}", written)) as events:
            async for event in events:
                yield event

    def _unsealed(self) -> Ledger:
        if self._ledger is None:
            raise ArchiveRefused(f"cannot change the archive {self.id}", why="it is sealed")
        return self._ledger


def _part(kept: FileSum, items: int, omitted: tuple[Omitted, ...] = ()) -> Part:
    return Part(kept.name, items, kept.size, kept.sha256, omitted)


async def _nothing() -> AsyncGenerator[tuple[msgspec.Struct, ...], None]:
    return
    yield
