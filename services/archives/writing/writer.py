"""Makes one archive: part after part into a hidden directory, which gets its name when it is sealed."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from pathlib import Path

from services.archives.manifest import Sealing
from services.archives.model import Archive, ArchiveDraft, Part, Work
from services.memory import CoreMemory, Row, Scope, Tenant, Transfer


class ArchiveWriter:
    """An archive being made.

    Every part is written, synced to the disk, read back, counted and hashed before it counts as there. A part that is
    there is not written again unless asked for, so that an operation that is resumed goes on where it was.

    Attributes:
        id: The name the archive will have.
        directory: Where it is made; renamed when it is sealed.
        draft: What it was made for.
        parts: What is there, by the part's name.
        sealed: Whether it is.
    """

    id: str
    directory: Path
    draft: ArchiveDraft
    parts: dict[str, Part]
    sealed: bool

    def write_agent_file(self, data: bytes) -> Work[Part]:
        """Keep `agent.toml` byte for byte."""
        raise NotImplementedError

    def pack_workspace(self, workspace: Path) -> Work[Part]:
        """Pack a workspace; a directory that is not there is packed as an empty one.

        Whoever goes on to remove the workspace looks at `Part.losses` first.
        """
        raise NotImplementedError

    def write_memory(self, pages: AsyncIterable[Sequence[Row]], expected: int = 0) -> Work[Part]:
        """Keep rows of agent memory, as `AgentMemory.read_out()` yields them.

        Args:
            pages: The rows.
            expected: How many there will be, for the progress; 0 is unknown.
        """
        raise NotImplementedError

    def write_core_blocks(self, core: CoreMemory, tenants: Sequence[Tenant]) -> Work[Part]:
        """Keep the core blocks of tenants with their history."""
        raise NotImplementedError

    def write_archive_entries(self, core: CoreMemory, tenants: Sequence[Tenant]) -> Work[Part]:
        """Keep what tenants put away."""
        raise NotImplementedError

    def write_scopes(self, transfer: Transfer, scopes: Sequence[Scope]) -> Work[Part]:
        """Keep the keys of scopes; none are no keys."""
        raise NotImplementedError

    def write_session(self, session: str, record: bytes, output: Path) -> Work[Part]:
        """Keep a session's record and its spool.

        Args:
            session: Its id.
            record: JSON: the session's row with its steps.
            output: The directory of its spool; need not be there.
        """
        raise NotImplementedError

    def recheck(self) -> Work[tuple[str, ...]]:
        """Read every part once more; the result names those that are not as they were written."""
        raise NotImplementedError

    def seal(self, sealing: Sealing) -> Work[Archive]:
        """Write manifest, README and checksums, and give the archive its name; done again, it changes nothing."""
        raise NotImplementedError

    async def discard(self) -> None:
        """Remove what was written; never once it is sealed."""
        raise NotImplementedError
