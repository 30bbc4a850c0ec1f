"""What is found when an archive is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import msgspec

from services.archives.members import Member
from services.memory import AgentMemory, Tenant


class Refusal(StrEnum):
    """Why a member of an archive is not read or not written out."""

    ABSOLUTE = "its name is absolute"
    PARENT = "its name has '..' in it"
    OUTSIDE = "it does not lie in the workspace"
    NO_NAME = "it has no usable name"
    TOO_LONG = "its name is too long"
    CONTROL = "its name has control characters"
    DUPLICATE = "its name occurs twice"
    CASE_TWIN = "its name differs from another's in case only"
    LINK_ESCAPES = "it is a link that leads out of the workspace"
    HARD_LINK = "it is a hard link to what is not an earlier file of the workspace"
    BELOW_LINK = "it lies below what is not a folder"
    BELOW_REFUSED = "it lies below what was refused"
    DEVICE = "it is a device"
    FIFO = "it is a named pipe"
    UNKNOWN = "it is of an unknown type"
    TOO_MANY = "there are too many members before it"
    TOO_LARGE = "it is larger than the limit"
    TOTAL = "all together is larger than the limit"
    TRUNCATED = "the archive ends or is damaged there"
    DIFFERS = "its bytes are not those that were packed"
    EXISTS = "something is in its place"
    MISSING = "it is not in the archive"
    UNWRITABLE = "it cannot be written"
    ATTRIBUTE = "it is an attribute that is not set here"


@dataclass(frozen=True)
class Refused:
    r"""A member that was refused.

    Attributes:
        name: Its name as the archive has it; what is not UTF-8 in it is written as `\xff`.
        detail: More for people, or "".
    """

    name: str
    reason: Refusal
    detail: str = ""


@dataclass(frozen=True)
class Tree:
    """The members of an archive.

    Attributes:
        members: Sorted by path, folders before what is in them.
        refused: Those that cannot be read, each with the reason.
        vouched: Whether the index vouches for all of it, so that names and links are what Pinfold packed.
    """

    members: tuple[Member, ...]
    refused: tuple[Refused, ...]
    vouched: bool

    @cached_property
    def by_path(self) -> dict[str, Member]:
        """The members by path."""
        return {member.path: member for member in self.members}

    @cached_property
    def _by_folder(self) -> dict[str, list[Member]]:
        folders: dict[str, list[Member]] = {}
        for member in self.members:
            folders.setdefault(member.path.rpartition("/")[0], []).append(member)
        return folders

    def children(self, folder: str = "") -> tuple[Member, ...]:
        """What lies directly in a folder, folders first; "" is the archive itself."""
        found = self._by_folder.get(folder, [])
        return tuple(sorted(found, key=lambda member: (member.kind != "folder", member.path)))


@dataclass(frozen=True)
class Preview:
    """The beginning of a file.

    Attributes:
        data: Raw bytes, hostile like any output of agents.
        size: Bytes of the whole file.
    """

    path: str
    data: bytes
    size: int

    @property
    def whole(self) -> bool:
        """Whether that is all of it."""
        return len(self.data) >= self.size

    @property
    def binary(self) -> bool:
        """Whether it is no text."""
        return b"\0" in self.data


class FindingKind(StrEnum):
    """What verifying found."""

    DIFFERS = "differs"
    MISSING = "missing"
    EXTRA = "extra"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    """Named by the archive and not looked at, since the name leads elsewhere."""
    UNPROVEN = "unproven"
    """Nothing in the index vouches for it."""


@dataclass(frozen=True)
class Finding:
    """Something that is not as it was when the archive was sealed.

    Attributes:
        name: The file's path in the archive.
        why: For people.
    """

    kind: FindingKind
    name: str
    why: str


@dataclass(frozen=True)
class Verification:
    """What came of recomputing every checksum.

    Attributes:
        at: Nanoseconds since 1970.
        files: How many were read.
        size: Bytes read.
    """

    archive: str
    at: int
    files: int
    size: int
    findings: tuple[Finding, ...]

    @property
    def intact(self) -> bool:
        """Whether everything is as it was, and the index vouches for it."""
        return not self.findings


@dataclass(frozen=True)
class Extraction:
    """What was written out of an archive.

    Attributes:
        written: How many files, folders and links.
        size: Bytes of the files.
        refused: What was not written, each with the reason.
    """

    target: Path
    written: int
    size: int
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True)
class Limits:
    """How much is read of an archive before it is taken for a bomb.

    Attributes:
        members: Of the workspace.
        member_size: Bytes of one file.
        total_size: Bytes of all files together.
        line: Bytes of one line of a JSON Lines file.
        small_file: Bytes of the manifest, the checksums or a session's record.
    """

    members: int = 2_000_000
    member_size: int = 64 * 1024**3
    total_size: int = 256 * 1024**3
    line: int = 64 * 1024**2
    small_file: int = 64 * 1024**2


class KeptTenant(msgspec.Struct, frozen=True):
    """The core blocks of a tenant with their history: one line of `core_blocks.jsonl`.

    Attributes:
        blocks: Contents by the block's name; those never written are left out.
        history: Times in nanoseconds since 1970 with what was noted, the oldest first.
    """

    tenant: Tenant
    blocks: dict[str, str] = {}
    history: tuple[tuple[int, str], ...] = ()


class KeptEntry(msgspec.Struct, frozen=True):
    """An archive entry of a tenant: one line of `archive_entries.jsonl`.

    Attributes:
        tenant: The tenant's id.
        created_at: Nanoseconds since 1970.
    """

    tenant: int
    id: str
    content: str
    created_at: int


@dataclass(frozen=True)
class KeptSession:
    """A session in an archive.

    Attributes:
        record: JSON, as it was handed to the writer.
        output: The directory of its spool; may be empty.
    """

    id: str
    record: bytes
    output: Path


@dataclass(frozen=True)
class LivingAgent:
    """An agent to compare an archive with.

    Attributes:
        file: Its `agent.toml`.
        memory: None leaves the memory out of the comparison.
    """

    alias: str
    file: Path
    workspace: Path
    memory: AgentMemory | None = None


class Change(StrEnum):
    """How the other side differs from the archive."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class FileChange:
    """A file, folder or link that differs; None where it is not there."""

    path: str
    change: Change
    before: Member | None
    after: Member | None


@dataclass(frozen=True)
class RowChange:
    """A row of memory that differs.

    Attributes:
        before: The beginning of its content in the archive.
        after: The beginning of its content on the other side.
    """

    key: str
    change: Change
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Comparison:
    """An archive set against a living agent or another archive.

    Attributes:
        config: Unified diff of the two `agent.toml`; "" when they are the same.
        files: What differs; at most `LISTED_CHANGES`.
        rows: What differs; at most `LISTED_CHANGES`.
        same_files: How many do not differ.
        same_rows: How many do not differ.
        more_files: How many differ beyond those listed.
        more_rows: How many differ beyond those listed.
        refused: Members that could not be compared.
        omitted: What of the living workspace could not be read, for people.
    """

    archive: str
    other: str
    config: str = ""
    files: tuple[FileChange, ...] = ()
    rows: tuple[RowChange, ...] = ()
    same_files: int = 0
    same_rows: int = 0
    more_files: int = 0
    more_rows: int = 0
    refused: tuple[Refused, ...] = ()
    omitted: tuple[str, ...] = field(default=())

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.config or self.files or self.rows or self.refused or self.omitted)


LISTED_CHANGES = 10_000
"""The most changes of files, or of rows, that a comparison names."""
