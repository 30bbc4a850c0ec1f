"""Archives removed for good, and which of them are kept no longer."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.archives.model import Archive
from services.archives.working import Gauge
from services.archives.writing.files import sync_directory

_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Retention:
    """Which archives are kept no longer; at least one of the first two is set.

    Attributes:
        older_than: Those made more than so many seconds ago go.
        total_size: The oldest go until the others have at most so many bytes.
        alias: Only this agent's; "" is all.
    """

    older_than: float | None = None
    total_size: int | None = None
    alias: str = ""


def beyond(archives: Sequence[Archive], retention: Retention, now: int) -> list[Archive]:
    """Choose those that are kept no longer.

    Args:
        archives: The newest first.
        retention: What is kept.
        now: Nanoseconds since 1970.
    """
    oldest = None if retention.older_than is None else now - int(retention.older_than * _SECOND)
    going: list[Archive] = []
    kept, full = 0, False
    for archive in archives:
        too_old = oldest is not None and archive.created_at < oldest
        full = full or (retention.total_size is not None and kept + archive.size > retention.total_size)
        if too_old or full:
            going.append(archive)
        else:
            kept += archive.size
    return going


def remove(path: Path, aside: Path, gauge: Gauge) -> None:
    """Take an archive's name away first, so that none is ever found with files missing; blocks.

    A link in its place is removed, and what it leads to is left alone. What an earlier try left is removed as well.

    Args:
        path: The archive's; need not be there any more.
        aside: The hidden name it is removed under.
        gauge: Told of files and bytes; giving up leaves a part under the hidden name.

    Raises:
        OSError: The disk refuses.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        path.unlink()
    elif path.is_dir():
        if aside.exists():
            shutil.rmtree(aside)
        path.rename(aside)
        sync_directory(path.parent)
    if aside.is_dir():
        for file in sorted(aside.rglob("*")):
            if file.is_symlink() or not file.is_dir():
                size = file.lstat().st_size
                file.unlink()
                gauge.advance(items=1, size=size)
        shutil.rmtree(aside)
        sync_directory(path.parent)
