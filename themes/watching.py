"""Notices when theme files change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

_SETTLING_MILLISECONDS = 200


async def theme_changes(folder: Path) -> AsyncIterator[None]:
    """Yield after each change of a theme file, also of a folder that is only made later; ends when its home is gone.

    Args:
        folder: Where an operator's themes lie.
    """
    from watchfiles import awatch  # 8 ms, and never needed for the first frame

    while watched := _folders_there(folder):
        async for changes in awatch(*watched, recursive=False, debounce=_SETTLING_MILLISECONDS, watch_filter=None):
            paths = [Path(path) for _, path in changes]
            if folder in paths and _folders_there(folder) != watched:
                yield
                break
            if any(path.suffix == ".toml" and path.parent == folder for path in paths):
                yield


def _folders_there(folder: Path) -> list[Path]:
    return [place for place in (folder.parent, folder) if place.is_dir()]
