"""Parts of an archive that is being made, read once more."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from services.archives.working import Gauge
from services.archives.writing.files import FileSum, sum_of

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def differing(directory: Path, files: Sequence[FileSum], gauge: Gauge) -> tuple[str, ...]:
    """Name the files that are gone or differ from what was written; blocks."""
    gauge.begin("reading the archive again", total_items=len(files), total_size=sum(file.size for file in files))
    return tuple(file.name for file in files if not _as_written(directory, file, gauge))


def _as_written(directory: Path, file: FileSum, gauge: Gauge) -> bool:
    gauge.doing = file.name
    try:
        descriptor = os.open(directory / file.name, _READ)
    except OSError:  # gone, or something else in its place: in any case not what was written
        return False
    try:
        found = sum_of(descriptor, gauge)
    finally:
        os.close(descriptor)
    gauge.advance(items=1)
    return found == (file.sha256, file.size)
