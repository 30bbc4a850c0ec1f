"""The last files of an archive, and its name."""

from __future__ import annotations

import contextlib
import platform
import shutil
import sqlite3
from pathlib import Path

import services
from services.archives import layout
from services.archives.layout import moment
from services.archives.manifest import SCHEMA, About, AboutAgent, KeptFile, LeftOut, Manifest, Sealing, encoded
from services.archives.model import Archive
from services.archives.writing.files import FileSum, sync_directory, write_checked
from services.archives.writing.ledger import Ledger
from services.errors import ArchiveRefused


def tool_versions() -> dict[str, str]:
    """Versions of what writes archives."""
    return {"pinfold": services.__version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}


def seal_files(archive: Archive, ledger: Ledger, sealing: Sealing, tools: dict[str, str], now: int) -> None:
    """Write README, checksums and manifest, and rename the directory; blocks.

    Raises:
        ArchiveRefused: Something is in the archive's place.
        OSError: The disk refuses.
    """
    directory = ledger.directory
    readme = layout.README_TEXT.format(alias=archive.alias, archive=archive.id)
    files = [*ledger.files(), write_checked(directory, layout.README, readme.encode())]
    _remove_unlisted(directory, files)
    lines = [f"{file.sha256}  {file.name}\n" for file in sorted(files, key=lambda file: file.name)]
    sums = write_checked(directory, layout.CHECKSUMS, "".join(lines).encode())
    manifest = _manifest(archive, ledger, sealing, tools, now, sums)
    write_checked(directory, layout.MANIFEST, encoded(manifest))
    if archive.path.exists() or archive.path.is_symlink():
        raise ArchiveRefused(f"cannot seal the archive {archive.id}", why=f"something is at {archive.path}")
    directory.rename(archive.path)
    sync_directory(archive.path.parent)
    end_ledger(archive.path)


def end_ledger(directory: Path) -> None:
    """Remove what only the writer needed from a sealed archive; blocks."""
    (directory / layout.LEDGER).unlink(missing_ok=True)
    sync_directory(directory)


def _remove_unlisted(directory: Path, files: list[FileSum]) -> None:
    """Leave nothing that a killed writer left half done, so that no archive has files it does not name."""
    kept = {directory / file.name for file in files} | {directory / layout.LEDGER}
    folders = {folder for file in kept for folder in file.parents}
    for found in sorted(directory.rglob("*"), reverse=True):
        if found in kept or found in folders:
            continue
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(found) if found.is_dir() and not found.is_symlink() else found.unlink()


def _manifest(
    archive: Archive, ledger: Ledger, sealing: Sealing, tools: dict[str, str], now: int, sums: FileSum
) -> Manifest:
    draft = ledger.beginning.draft
    parts = [written.part for written in ledger.written.values()]
    return Manifest(
        schema=SCHEMA,
        archive=About(
            id=archive.id,
            kind=draft.kind,
            actor=draft.actor,
            started_at=moment(ledger.beginning.at),
            sealed_at=moment(now),
            tools=tools,
        ),
        agent=AboutAgent(draft.alias, draft.uuid, draft.workspace, draft.backend),
        checksums=sums.sha256,
        warnings=sealing.warnings,
        counts=sealing.counts,
        steps=sealing.steps,
        references=sealing.references,
        files=tuple(KeptFile(part.name, part.items, part.size) for part in sorted(parts, key=lambda part: part.name)),
        left_out=tuple(LeftOut(one.name, one.reason.value, one.detail) for part in parts for one in part.omitted),
    )
