"""A workspace put into an archive: a tar, and a list of what is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from services.archives.layout import WORKSPACE_LIST
from services.archives.members import Member, from_list, listed
from services.archives.model import Omitted
from services.archives.tars.compression import CompressedFile
from services.archives.working import Gauge
from services.archives.writing.files import FileSum, FreshFile, sum_of
from services.archives.writing.packing import Packing, changes_since
from services.archives.writing.reading_back import ReadingBack
from services.archives.writing.walking import Found, walk
from services.errors import ArchiveError

_LINES = 1000


@dataclass(frozen=True)
class Packed:
    """A workspace in an archive.

    Attributes:
        items: How many members, the workspace itself included.
        omitted: What was left out or may differ.
    """

    tar: FileSum
    list: FileSum
    items: int
    omitted: tuple[Omitted, ...]


def pack(directory: Path, name: str, workspace: Path, gauge: Gauge) -> Packed:
    """Pack a workspace, read it back, and look whether it changed meanwhile; blocks.

    Args:
        directory: The archive's.
        name: The tar's file; its ending says how it is compressed.
        workspace: Need not be there.
        gauge: Told of files and bytes.

    Raises:
        ArchiveError: What was read back is not what was written.
        OSError: The workspace cannot be read at all, or the archive cannot be written.
    """
    items, size = _survey(workspace, gauge)
    gauge.begin("packing the workspace", total_items=items, total_size=size)
    with FreshFile(directory, name) as tar_file, FreshFile(directory, WORKSPACE_LIST) as list_file:
        with ReadingBack(tar_file) as reading:
            with CompressedFile(reading, zstd=name.endswith(".zst")) as tar:
                packing = Packing(tar, gauge)
                items = _write_list(list_file, packing.pack(workspace))
                tar.finish()
            found = reading.finish(gauge)
        if (found.members, found.size) != (items, tar.size):
            why = f"{items:,} members were written, {found.members:,} can be read back"
            raise ArchiveError(f"{name} was not kept", why=why)
        tar_sum = tar_file.finish(found.sha256, found.compressed)
        descriptor = list_file.synced()
        list_sum = list_file.finish(*sum_of(descriptor))
        omitted = [*packing.omitted, *_later_changes(workspace, descriptor, packing.omitted)]
    return Packed(tar_sum, list_sum, items, tuple(omitted))


def _survey(workspace: Path, gauge: Gauge) -> tuple[int, int]:
    gauge.begin("looking through the workspace")
    items = size = 0
    for entry in walk(workspace):
        if isinstance(entry, Found):
            items += 1
            size += entry.facts.st_size
            gauge.advance(items=1)
    return items, size


def _write_list(file: FreshFile, members: Iterator[Member]) -> int:
    lines: list[bytes] = []
    count = 0
    for member in members:
        lines.append(listed(member))
        count += 1
        if len(lines) == _LINES:
            file.write(b"".join(lines))
            lines.clear()
    file.write(b"".join(lines))
    return count


def _later_changes(workspace: Path, descriptor: int, omitted: list[Omitted]) -> Iterator[Omitted]:
    known = {one.name for one in omitted}
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(descriptor, "rb", closefd=False) as lines:
        yield from (one for one in changes_since(workspace, map(from_list, lines)) if one.name not in known)
