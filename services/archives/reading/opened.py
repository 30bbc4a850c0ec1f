"""One archive opened for reading: its files, rows and sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from services.archives.manifest import Manifest
from services.archives.model import Archive, Work
from services.archives.reading.model import Extraction, KeptEntry, KeptSession, KeptTenant, Preview, Tree
from services.memory import Row


class OpenArchive:
    """An archive that is read; whatever is in it may be hostile.

    Attributes:
        archive: As listed.
        manifest: What it says of itself.
        vouched: Whether the index vouches for the manifest, and so for what the archive says of its files.
    """

    archive: Archive
    manifest: Manifest
    vouched: bool

    async def agent_file(self) -> bytes:
        """Read `agent.toml` as it was; empty when there was none."""
        raise NotImplementedError

    def tree(self) -> Work[Tree]:
        """List all members without unpacking them."""
        raise NotImplementedError

    def preview(self, path: str, limit: int = 64 * 1024) -> Work[Preview]:
        """Read the beginning of a member.

        Args:
            path: A member's.
            limit: Bytes.
        """
        raise NotImplementedError

    def extract(
        self,
        target: Path,
        paths: Sequence[str] = (),
        *,
        existing: Literal["refuse", "replace"] = "refuse",
        strict: bool | None = None,
    ) -> Work[Extraction]:
        """Write members of the workspace below a directory; nothing is ever written outside it.

        Args:
            target: Made when it is not there.
            paths: Of files and folders, such as `workspace/src`; none is the whole workspace. What is chosen keeps its
                path below `workspace/`.
            existing: What is done about a file in a member's place.
            strict: Also refuse links that lead out, control characters in names and names that differ in case only,
                as agents may well have them; None is unless the index vouches for the archive.
        """
        raise NotImplementedError

    def memory(self) -> AsyncGenerator[tuple[Row, ...], None]:
        """Yield the rows of memory, some at a time, as `AgentMemory.take_in()` takes them."""
        raise NotImplementedError

    def core_blocks(self) -> AsyncGenerator[tuple[KeptTenant, ...], None]:
        """Yield the core blocks, some tenants at a time."""
        raise NotImplementedError

    def archive_entries(self) -> AsyncGenerator[tuple[KeptEntry, ...], None]:
        """Yield the archive entries, some at a time."""
        raise NotImplementedError

    @contextmanager
    def scopes(self) -> Iterator[BinaryIO]:
        """Open the keys of scopes for `Transfer.take_in()`."""
        raise NotImplementedError
        yield

    async def sessions(self) -> tuple[KeptSession, ...]:
        """Read the records of the sessions, by id."""
        raise NotImplementedError
