"""Notices when theme files change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from themes.files import theme_files

Stamps = tuple[tuple[str, int, int, int], ...]
"""Name, inode, size and time of change of each file."""


async def theme_changes(folder: Path, every: float = 1.0) -> AsyncIterator[None]:
    """Yield at once, and then whenever a theme file was written, came or went, until cancelled.

    Looks instead of asking the kernel, which says nothing of network file systems, links, or a folder yet to be made.

    Args:
        folder: Where an operator's themes lie; need not exist.
        every: Seconds between looks.
    """
    seen: Stamps | None = None
    while True:
        found = await asyncio.to_thread(_stamps, folder)
        if found != seen:
            seen = found
            yield
        await asyncio.sleep(every)


def _stamps(folder: Path) -> Stamps:
    found = []
    for file in theme_files(folder):
        try:
            stat = file.stat()
        except OSError:  # went in the same moment
            continue
        found.append((file.name, stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
