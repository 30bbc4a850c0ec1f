"""One archive opened for reading: its files, rows and sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Concatenate, Literal, ParamSpec, TypeVar

from services.archives import layout
from services.archives.manifest import Manifest
from services.archives.model import Archive, Work
from services.archives.reading.checksums import Sums
from services.archives.reading.comparing import hashed
from services.archives.reading.extracting import Extracting
from services.archives.reading.files import Folder
from services.archives.reading.model import Extraction, KeptEntry, KeptSession, KeptTenant, Limits, Preview, Tree
from services.archives.reading.previewing import preview_of
from services.archives.reading.rows import open_rows, read_rows
from services.archives.reading.tree import tree_of
from services.archives.working import Gauge, told
from services.home import BlockingCalls
from services.memory import Row

P = ParamSpec("P")
T = TypeVar("T")


class OpenArchive:
    """An archive that is read; whatever is in it may be hostile.

    Args:
        archive: As listed.
        manifest: What it says of itself.
        vouched: Whether the index vouches for the manifest, and so for what the archive says of its files.
        sums: Checksums by file.
        calls: Threads for the disk.
        limits: When it is taken for a bomb.
    """

    def __init__(
        self, archive: Archive, manifest: Manifest, vouched: bool, sums: Sums, calls: BlockingCalls, limits: Limits
    ) -> None:
        self.archive = archive
        self.manifest = manifest
        self.vouched = vouched
        self._sums = sums
        self._calls = calls
        self._limits = limits

    async def agent_file(self) -> bytes:
        """Read `agent.toml` as it was; empty when there was none.

        Raises:
            ArchiveDamaged: It cannot be read.
        """

        def read(folder: Folder) -> bytes:
            name = layout.AGENT_FILE
            return folder.read(name, self._limits.small_file) if folder.has(name) else b""

        return await self._calls.run(self._in_folder, read)

    def tree(self) -> Work[Tree]:
        """List all members without unpacking them.

        Where the index vouches for the archive its list of the workspace is believed; else its tar is read through,
        and members that are refused are named.
        """
        return self._work("cannot list the archive", self._tree)

    def preview(self, path: str, limit: int = 64 * 1024) -> Work[Preview]:
        """Read the beginning of a member; that of a link is where it leads.

        Args:
            path: A member's.
            limit: Bytes.

        Raises:
            ArchiveNotFound: There is no such member.
            ArchiveDamaged: It cannot be read.
        """
        return self._work(
            "cannot read the archive", lambda folder, gauge: preview_of(folder, path, limit, self._limits, gauge)
        )

    def extract(
        self,
        target: Path,
        paths: Sequence[str] = (),
        *,
        existing: Literal["refuse", "replace"] = "refuse",
        strict: bool | None = None,
    ) -> Work[Extraction]:
        """Write members below a directory; nothing is ever written outside it.

        Args:
            target: Made when it is not there.
            paths: Of files and folders, such as `workspace/src`; none is the whole workspace. What is chosen keeps its
                path, the workspace's members theirs below `workspace/`.
            existing: What is done about a file in a member's place.
            strict: Also refuse links that lead out, control characters in names and names that differ in case only,
                as agents may well have them; None is unless the index vouches for the archive.

        Raises:
            ArchiveRefused: They do not fit on the disk.
            ArchiveError: The disk refuses.
        """

        def extract(folder: Folder, gauge: Gauge) -> Extraction:
            tree = self._tree(folder, gauge)
            careful = not tree.vouched if strict is None else strict
            work = Extracting(folder, tree, self._limits, careful, gauge)
            return work.extract(target, paths, replace=existing == "replace")

        return self._work(f"cannot extract to {target}", extract)

    def memory(self) -> AsyncGenerator[tuple[Row, ...], None]:
        """Yield the rows of memory, some at a time, as `AgentMemory.take_in()` takes them.

        Raises:
            ArchiveDamaged: A line is no row or too long.
        """
        return self._rows(layout.MEMORY, Row)

    def core_blocks(self) -> AsyncGenerator[tuple[KeptTenant, ...], None]:
        """Yield the core blocks, some tenants at a time.

        Raises:
            ArchiveDamaged: A line is none or too long.
        """
        return self._rows(layout.CORE_BLOCKS, KeptTenant)

    def archive_entries(self) -> AsyncGenerator[tuple[KeptEntry, ...], None]:
        """Yield the archive entries, some at a time.

        Raises:
            ArchiveDamaged: A line is none or too long.
        """
        return self._rows(layout.ARCHIVE_ENTRIES, KeptEntry)

    @contextmanager
    def scopes(self) -> Iterator[BinaryIO]:
        """Open the keys of scopes for `Transfer.take_in()`, which holds each line to its limit; blocks shortly.

        Raises:
            ArchiveDamaged: The file cannot be read.
        """
        with Folder.open(self.archive.path) as folder, open_rows(folder, layout.SCOPES) or BytesIO() as file:
            yield file

    async def sessions(self) -> tuple[KeptSession, ...]:
        """Read the records of the sessions, by id.

        Raises:
            ArchiveDamaged: One cannot be read.
        """
        return await self._calls.run(self._in_folder, self._sessions)

    async def hashed_tree(self, gauge: Gauge) -> Tree:
        """List all members, each file with its checksum."""

        def work(folder: Folder) -> Tree:
            tree = self._tree(folder, gauge)
            return tree if tree.vouched else hashed(folder, tree, self._limits, gauge)

        return await self._calls.run(self._in_folder, work)

    def _sessions(self, folder: Folder) -> tuple[KeptSession, ...]:
        return tuple(
            KeptSession(
                id,
                folder.read(f"{layout.SESSIONS}/{id}/{layout.RECORD}", self._limits.small_file),
                self.archive.path / layout.SESSIONS / id / layout.OUTPUT,
            )
            for id in sorted({layout.session_of(name) for name, _ in folder.walk()} - {""})
        )

    def _tree(self, folder: Folder, gauge: Gauge) -> Tree:
        return tree_of(folder, self._sums, self.vouched, self._limits, gauge)

    def _rows(self, name: str, kind: type[T]) -> AsyncGenerator[tuple[T, ...], None]:
        return read_rows(self._calls, self.archive.path, name, kind, self._limits.line)

    def _work(self, what: str, work: Callable[[Folder, Gauge], T]) -> Work[T]:
        return told(what, lambda gauge: self._calls.run(self._in_folder, work, gauge))

    def _in_folder(self, work: Callable[Concatenate[Folder, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        with Folder.open(self.archive.path) as folder:
            return work(folder, *args, **kwargs)
