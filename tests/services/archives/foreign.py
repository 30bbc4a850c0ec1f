"""Archives that Pinfold did not make: whole, with checksums that fit, and with any tar in them."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

from services.archives import About, AboutAgent, ArchiveKind, Manifest
from services.archives.manifest import SCHEMA, encoded

NAME = "bot-20260101000000"
_THEN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)

Member = tarfile.TarInfo | tuple[tarfile.TarInfo, bytes]


def make_foreign(directory: Path, files: dict[str, bytes], name: str = NAME) -> Path:
    """Write an archive with these files, and with checksums and a manifest that fit them."""
    place = directory / name
    for path, data in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {path}\n" for path, data in sorted(files.items()))
    seal_foreign(place, sums.encode())
    return place


def seal_foreign(place: Path, sums: bytes) -> None:
    """Write a list of checksums, and the manifest that vouches for it."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "checksums.sha256").write_bytes(sums)
    manifest = Manifest(
        schema=SCHEMA,
        archive=About(id=place.name, kind=ArchiveKind.DELETE, actor="x", started_at=_THEN, sealed_at=_THEN, tools={}),
        agent=AboutAgent("bot"),
        checksums=hashlib.sha256(sums).hexdigest(),
    )
    (place / "manifest.toml").write_bytes(encoded(manifest))


def tar_of(members: Iterable[Member]) -> bytes:
    """A compressed tar of any members."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member in members:
            info, data = member if isinstance(member, tuple) else (member, b"")
            info.size = len(data) if info.isreg() and not info.size else info.size
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)


def file(name: str, data: bytes = b"x") -> Member:
    """A file."""
    return tarfile.TarInfo(name), data


def folder(name: str) -> Member:
    """A folder."""
    return other(name, tarfile.DIRTYPE)


def link(name: str, target: str) -> Member:
    """A symbolic link."""
    return other(name, tarfile.SYMTYPE, target)


def hard_link(name: str, target: str) -> Member:
    """A hard link."""
    return other(name, tarfile.LNKTYPE, target)


def other(name: str, kind: bytes, target: str = "") -> Member:
    """A member of any kind."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, target, 0o755
    return info
