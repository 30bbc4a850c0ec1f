"""When to look at the TOML files again."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import stat
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from services.home import BlockingCalls, Home

LONGEST_PAUSE = 0.4
"""Seconds without news after which to look anyway."""

_DEBOUNCE_MS = 100
_STEP_MS = 40


async def reasons_to_look(home: Home, calls: BlockingCalls) -> AsyncGenerator[None, None]:
    """Yield at once, soon after something changed on disk, and every `LONGEST_PAUSE` in any case.

    The kernel's word is only a reason to look sooner: it says nothing of files behind links or on network file
    systems, and it cannot be had at all when the limit of watches is reached. Then the pause alone decides, and the
    next round asks the kernel again. Directories are watched, never files, since editors replace those.
    """
    await calls.run(importlib.import_module, "watchfiles")  # takes longer than the event loop may be held up
    from watchfiles import awatch

    while True:
        watched = await calls.run(_directories, home)
        yield
        try:
            async with aclosing(
                awatch(
                    *watched,
                    watch_filter=lambda _, path: _concerns(home, Path(path)),
                    debounce=_DEBOUNCE_MS,
                    step=_STEP_MS,
                    rust_timeout=int(LONGEST_PAUSE * 1000),
                    yield_on_timeout=True,
                    recursive=False,
                )
            ) as changes:
                async for news in changes:
                    uncertain = news or str(home.agents_dir) not in watched
                    if uncertain and await calls.run(_directories, home) != watched:
                        break
                    yield
        except (OSError, RuntimeError):  # no watch to be had, or a directory went meanwhile
            await asyncio.sleep(LONGEST_PAUSE)


def _directories(home: Home) -> dict[str, int]:
    """The directories to watch, with their inodes: one that was replaced must be watched anew.

    Workspaces are not among them; agents write there all the time.
    """
    found: dict[str, int] = {}
    for directory in (home.root, home.agents_dir):
        with contextlib.suppress(OSError):  # not there yet, or not a directory
            found[str(directory)] = directory.stat().st_ino
    with contextlib.suppress(OSError), os.scandir(home.agents_dir) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # a link to nowhere, say
                if not entry.name.startswith(".") and stat.S_ISDIR((status := entry.stat()).st_mode):
                    found[entry.path] = status.st_ino
    return found


def _concerns(home: Home, path: Path) -> bool:
    """Whether a change may matter; the litter of editors and our own half-written files do not."""
    if path.parent == home.agents_dir:
        return not path.name.startswith(".")
    return path.name == "agent.toml" or path in (home.config_file, home.agents_dir)
