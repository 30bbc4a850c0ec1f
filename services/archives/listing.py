"""Archives as the disk and the index have them together."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from services.archives import layout
from services.archives.index import Indexed
from services.archives.manifest import Manifest, decoded
from services.archives.model import Archive, ArchiveKind, ArchiveState
from services.archives.reading.files import Folder
from services.archives.reading.model import Limits
from services.errors import ArchiveDamaged, ArchiveError

_PARTIAL = (".", ".partial")


@dataclass(frozen=True)
class OnDisk:
    """What the disk has of an archive.

    Attributes:
        partial: Whether it is only being made.
        problem: Why it cannot be read, a clause; "" when it can.
        manifest: What it says of itself; read only where the index has nothing.
    """

    id: str
    path: Path
    partial: bool = False
    problem: str = ""
    manifest: Manifest | None = None


def on_disk(archives: Path, known: Mapping[str, Indexed], limits: Limits) -> dict[str, OnDisk]:
    """Look through the archives' directory; blocks.

    Args:
        archives: The directory.
        known: The index; the manifests of archives in it are not read.
        limits: How large a manifest may be.

    Raises:
        ArchiveError: The directory cannot be read.
    """
    try:
        names = [entry.name for entry in archives.iterdir()]
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ArchiveError("cannot list archives", why=error.strerror or str(error)) from error
    found: dict[str, OnDisk] = {}
    for name in sorted(names, reverse=True):  # hidden ones last, so that they never stand for one that is whole
        entry = _entry(archives, name, known, limits)
        if entry is not None:
            found.setdefault(entry.id, entry)
    return found


def find_on_disk(archives: Path, archive: str, known: Mapping[str, Indexed], limits: Limits) -> OnDisk | None:
    """Look for one archive; blocks."""
    if not archive or archive.startswith(".") or "/" in archive or "\0" in archive:
        return None
    for name in (archive, layout.partial_name(archive)):
        if os.path.lexists(archives / name):
            return _entry(archives, name, known, limits)
    return None


def _entry(archives: Path, name: str, known: Mapping[str, Indexed], limits: Limits) -> OnDisk | None:
    path = archives / name
    before, after = _PARTIAL
    if name.startswith(before):
        inner = name.removeprefix(before).removesuffix(after)
        partial = name.endswith(after) and layout.parsed_name(inner) is not None
        return OnDisk(inner, path, partial=True, problem=_fault_of(path)) if partial else None
    problem = _fault_of(path)
    if problem or name in known:
        return OnDisk(name, path, problem=problem)
    try:
        with Folder.open(path) as folder:
            return OnDisk(name, path, manifest=decoded(folder.read(layout.MANIFEST, limits.small_file)))
    except ArchiveDamaged as error:
        return OnDisk(name, path, problem=str(error))


def _fault_of(path: Path) -> str:
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        return error.strerror or str(error)
    if stat.S_ISLNK(mode):
        return "it is a link, which is not followed"
    return "" if stat.S_ISDIR(mode) else "it is no directory"


def together(archives: Path, row: Indexed | None, disk: OnDisk | None) -> Archive:
    """Describe one archive; at least one of them has it."""
    if row is None:
        assert disk is not None
        return _from_disk(disk)
    state, problem = row.state, disk.problem if disk else ""
    if disk is None and state is not ArchiveState.PURGED:
        state, problem = ArchiveState.MISSING, "it is in the index and not on the disk"
    elif disk is not None and state is ArchiveState.PURGED:
        state, problem = ArchiveState.UNINDEXED, "the index says it was purged, and it is on the disk"
    elif disk is not None and disk.problem:
        state = ArchiveState.DAMAGED
    elif disk is not None and disk.partial and state is ArchiveState.SEALED:
        state, problem = ArchiveState.MISSING, "the index says it was sealed, and only an unfinished one is there"
    elif state is ArchiveState.UNSEALED:
        problem = "the operation that makes it has not ended"
    return Archive(
        id=row.id,
        path=disk.path if disk else archives / row.id,
        alias=row.alias,
        uuid=row.uuid,
        kind=row.kind,
        state=state,
        created_at=row.created_at,
        size=row.size,
        verified_at=row.verified_at,
        intact=row.intact,
        problem=problem,
    )


def _from_disk(disk: OnDisk) -> Archive:
    alias, created_at = layout.parsed_name(disk.id) or ("", 0)
    if disk.partial:
        state, problem = ArchiveState.UNSEALED, disk.problem or "it was begun and is not in the index"
    elif disk.manifest is None:
        state, problem = ArchiveState.DAMAGED, disk.problem
    else:
        state, problem = ArchiveState.UNINDEXED, "it is not in the index, so nothing vouches for it"
    manifest = disk.manifest
    return Archive(
        id=disk.id,
        path=disk.path,
        alias=manifest.agent.alias if manifest else alias,
        uuid=manifest.agent.uuid if manifest else "",
        kind=manifest.archive.kind if manifest else ArchiveKind.DELETE,
        state=state,
        created_at=created_at,
        size=sum(file.size for file in manifest.files) if manifest else 0,
        problem=problem,
    )


def sum_and_size(directory: Path) -> tuple[str, int]:
    """SHA-256 of an archive's manifest and the bytes of all its files; blocks.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256((directory / layout.MANIFEST).read_bytes()).hexdigest()
    return digest, sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
