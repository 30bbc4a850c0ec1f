"""The beginning of one member."""

from __future__ import annotations

import os
from dataclasses import replace

from services.archives import layout
from services.archives.members import shown
from services.archives.reading.admission import Admission, admitted
from services.archives.reading.files import Folder
from services.archives.reading.model import Limits, Preview, Refused
from services.archives.reading.tree import opened_tar, tar_of
from services.archives.tars.content import content
from services.archives.tars.decompression import Damaged, TarBytes, TooMuch
from services.archives.tars.headers import Header
from services.archives.working import Gauge
from services.errors import ArchiveDamaged, ArchiveNotFound

_HARD_LINKS = 8


def preview_of(folder: Folder, path: str, limit: int, limits: Limits, gauge: Gauge) -> Preview:
    """Read the beginning of a member; blocks. A link is shown as where it leads.

    Raises:
        ArchiveNotFound: There is no such member.
        ArchiveDamaged: It cannot be read.
    """
    if not path.startswith(f"{layout.WORKSPACE}/"):
        return _of_file(folder, path, limit)
    name = tar_of(folder)
    source = path
    for _ in range(_HARD_LINKS):
        if name is None:
            break
        with opened_tar(folder, name, limits, gauge) as stream:
            if isinstance(stream, Refused):
                raise ArchiveDamaged(f"cannot read {name}", why=stream.detail or stream.reason)
            found = _of_member(stream, source, limit, limits, gauge)
        if isinstance(found, Preview):
            return replace(found, path=path)
        source = found
    raise _missing(path)


def _of_file(folder: Folder, path: str, limit: int) -> Preview:
    try:
        descriptor = folder.descriptor_of(path)
        with os.fdopen(descriptor, "rb") as file:
            return Preview(path, file.read(limit), os.fstat(descriptor).st_size)
    except FileNotFoundError as error:
        raise _missing(path) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ArchiveDamaged(f"cannot read {shown(path)} of the archive", why=why) from error


def _of_member(stream: TarBytes, path: str, limit: int, limits: Limits, gauge: Gauge) -> Preview | str:
    """The beginning of a member; for a hard link, the path of the member that has its bytes."""
    for entry in admitted(stream, Admission(limits, strict=False), lambda: gauge.advance(items=1)):
        if isinstance(entry, Refused):
            if entry.name == shown(path):
                raise ArchiveDamaged(f"{shown(path)} is not read", why=entry.reason.value)
            continue
        header, member = entry
        if member.path != path:
            continue
        if member.kind == "file":
            return Preview(path, _beginning(stream, header, limit), header.size)
        if member.kind == "hard link":
            return member.target
        target = os.fsencode(member.target)
        return Preview(path, target[:limit], len(target))
    raise _missing(path)


def _beginning(stream: TarBytes, header: Header, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    try:
        for piece in content(stream, header):
            data = bytes(min(piece, left)) if isinstance(piece, int) else piece[:left]
            pieces.append(data)
            left -= len(data)
            if left <= 0:
                break
    except (Damaged, TooMuch) as error:
        raise ArchiveDamaged("the archive is damaged there", why=str(error)) from error
    return b"".join(pieces)


def _missing(path: str) -> ArchiveNotFound:
    return ArchiveNotFound(f"{shown(path)} is not in the archive")
