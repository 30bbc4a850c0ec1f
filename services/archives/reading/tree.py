"""The members of an archive, found without unpacking."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from services.archives import layout
from services.archives.members import Member, from_list, shown
from services.archives.reading.admission import Admission, admitted
from services.archives.reading.checksums import Sums
from services.archives.reading.files import Folder
from services.archives.reading.model import Limits, Refusal, Refused, Tree
from services.archives.tars.decompression import Damaged, TarBytes, compressed_file
from services.archives.working import Gauge
from services.errors import ArchiveDamaged

_HEADERS = 4096
"""Bytes of headers and fillings a member, when a tar is held to its limit."""

_SLACK = 1024 * 1024


def tree_of(folder: Folder, sums: Sums, vouched: bool, limits: Limits, gauge: Gauge) -> Tree:
    """List the files of an archive and the members of its workspace; blocks.

    The list beside the tar is believed only where the index vouches for it; else the tar itself is read.

    Args:
        folder: The archive's.
        sums: What it says of its files.
        vouched: Whether the index vouches for the manifest.
        limits: When it is taken for a bomb.
        gauge: Told of members and bytes.
    """
    members, refused = _files(folder, sums)
    trusted = vouched and not sums.findings
    packed = list(_from_list(folder, sums, limits, gauge)) if trusted and _list_is_sound(folder, sums) else None
    if packed is None:
        trusted = False
        packed = []
        for entry in read_members(folder, limits, gauge, strict=True):
            if isinstance(entry, Refused):
                refused.append(entry)
            else:
                packed.append(entry)
    members.extend(packed)
    return Tree(tuple(sorted(members, key=lambda member: member.path.split("/"))), tuple(refused), trusted)


def read_members(folder: Folder, limits: Limits, gauge: Gauge, *, strict: bool) -> Iterator[Member | Refused]:
    """Yield the members of the workspace from its tar; none when there is no tar."""
    name = tar_of(folder)
    if name is None:
        return
    gauge.begin(name)
    with opened_tar(folder, name, limits, gauge) as stream:
        if isinstance(stream, Refused):
            yield stream
            return
        for entry in admitted(stream, Admission(limits, strict=strict), lambda: gauge.advance(items=1)):
            yield entry if isinstance(entry, Refused) else entry[1]


def tar_of(folder: Folder) -> str | None:
    """The name of the workspace's tar."""
    return next((name for name in layout.WORKSPACE_TARS if folder.has(name)), None)


@contextmanager
def opened_tar(folder: Folder, name: str, limits: Limits, gauge: Gauge) -> Iterator[TarBytes | Refused]:
    """Open the workspace's tar; or say why it cannot be read."""
    try:
        descriptor = folder.descriptor_of(name)
    except OSError as error:
        yield Refused(name, Refusal.TRUNCATED, error.strerror or str(error))
        return
    try:
        gauge.total_size = os.fstat(descriptor).st_size
        limit = limits.total_size + _HEADERS * limits.members + _SLACK
        try:
            compressed = compressed_file(descriptor, lambda count: gauge.advance(size=count))
            stream: TarBytes | Refused = TarBytes(compressed, limit)
        except Damaged as error:
            stream = Refused(name, Refusal.TRUNCATED, str(error))
        yield stream
    finally:
        os.close(descriptor)


def _files(folder: Folder, sums: Sums) -> tuple[list[Member], list[Refused]]:
    members: dict[str, Member] = {}
    refused: list[Refused] = []
    for name, facts in folder.walk():
        if name.startswith(f"{layout.WORKSPACE}/") or name == layout.WORKSPACE:
            refused.append(Refused(shown(name), Refusal.DUPLICATE, "the workspace is in its tar"))
            continue
        if not stat.S_ISREG(facts.st_mode):
            reason = Refusal.LINK_ESCAPES if stat.S_ISLNK(facts.st_mode) else Refusal.UNKNOWN
            refused.append(Refused(shown(name), reason, "archives have plain files only"))
            continue
        for above in _above(name):
            members.setdefault(above, Member(path=above, kind="folder", mode=0o700))
        members[name] = Member(
            path=name,
            kind="file",
            size=facts.st_size,
            mode=stat.S_IMODE(facts.st_mode),
            mtime=facts.st_mtime_ns,
            sha256=sums.by_name.get(name, ""),
        )
    return list(members.values()), refused


def _above(name: str) -> Iterable[str]:
    parts = name.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _list_is_sound(folder: Folder, sums: Sums) -> bool:
    expected = sums.by_name.get(layout.WORKSPACE_LIST)
    if expected is None:
        return tar_of(folder) is None
    try:
        with os.fdopen(folder.descriptor_of(layout.WORKSPACE_LIST), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == expected
    except OSError:  # then the tar is read, which says what is wrong
        return False


def _from_list(folder: Folder, sums: Sums, limits: Limits, gauge: Gauge) -> Iterator[Member]:
    if layout.WORKSPACE_LIST not in sums.by_name:
        return
    gauge.begin(layout.WORKSPACE_LIST)
    with os.fdopen(folder.descriptor_of(layout.WORKSPACE_LIST), "rb") as file:
        number = 0
        while line := file.readline(limits.line):
            number += 1
            try:
                yield from_list(line)
            except ValueError as error:
                raise ArchiveDamaged(
                    f"line {number:,} of {layout.WORKSPACE_LIST} is damaged", why=str(error)
                ) from error
            gauge.advance(items=1)
