"""A session's record and output copied into an archive."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from services.archives.layout import OUTPUT, RECORD, SESSIONS
from services.archives.working import Gauge
from services.archives.writing.files import FileSum, FreshFile, blocks, sum_of, sync_directory, write_checked

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCKS = ".lock"


def keep_session(directory: Path, session: str, record: bytes, output: Path, gauge: Gauge) -> tuple[FileSum, ...]:
    """Copy a session's files, each read back; blocks.

    Args:
        directory: The archive's.
        session: Its id, which can be the name of a folder.
        record: JSON of its row and steps.
        output: Its spool; need not be there. Only plain files are taken, and no locks.
        gauge: Told of files and bytes.

    Raises:
        ArchiveError: What was read back is not what was written.
        OSError: A file cannot be read or written.
    """
    folder = f"{SESSIONS}/{session}"
    place = directory / folder
    if place.exists():  # half a copy of an earlier try
        shutil.rmtree(place)
    (place / OUTPUT).mkdir(mode=0o700, parents=True)
    files = [write_checked(directory, f"{folder}/{RECORD}", record)]
    for name in sorted(_names(output)):
        copied = _copy(output / name, directory, f"{folder}/{OUTPUT}/{name}", gauge)
        if copied is not None:
            files.append(copied)
            gauge.advance(items=1)
    for written in (place, place.parent, directory):
        sync_directory(written)
    return tuple(files)


def _names(output: Path) -> list[str]:
    try:
        return [entry.name for entry in output.iterdir() if not entry.name.endswith(_LOCKS)]
    except FileNotFoundError:
        return []


def _copy(source: Path, directory: Path, name: str, gauge: Gauge) -> FileSum | None:
    if not stat.S_ISREG(source.lstat().st_mode):
        return None
    descriptor = os.open(source, _READ)
    try:
        with FreshFile(directory, name) as file:
            for block in blocks(descriptor, gauge):
                file.write(block)
            return file.finish(*sum_of(file.synced()))
    finally:
        os.close(descriptor)
