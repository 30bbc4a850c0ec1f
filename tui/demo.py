"""`pinfold --demo`: a throw-away home with example agents and what they remember, and its removal."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from services.home import BlockingCalls, FileLock, Home
from tui.invocation import Invocation, complain

_PREFIX = "pinfold-demo-"
_LOCK = "in-use"


def run_demo(invocation: Invocation) -> int:
    """Fill a throw-away home, open the screens on it, and remove it with all its sandboxes when they close.

    Returns the status to exit with.

    Homes that a killed demo left behind are removed first.

    Raises:
        PinfoldError: The home cannot be made.
    """
    from services.demo import init_demo

    folder = Path(tempfile.gettempdir())
    asyncio.run(_remove_abandoned(_earlier_demos(folder)))
    root, lock = _locked_directory(folder)
    calls = BlockingCalls()
    try:
        asyncio.run(init_demo(Home(root / "home"), calls))
        home = invocation.choose_home(str(root / "home"))
        from tui.run import run

        return run(home)
    finally:
        calls.close()
        asyncio.run(remove_demo(root))
        lock.release()


def _locked_directory(folder: Path) -> tuple[Path, FileLock]:
    """Make a directory that no other demo takes for abandoned: it gets its name once its lock is held."""
    fresh = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=folder))
    lock = FileLock(fresh / _LOCK, "the demo")
    lock.try_acquire()
    return fresh.rename(folder / fresh.name.removeprefix(".")), lock


async def remove_demo(root: Path) -> None:
    """Kill what the demo's sessions still run and delete its directory."""
    from services.errors import PinfoldError
    from services.pinfold import Pinfold

    home = Home(root / "home")
    if home.exists:
        try:
            async with Pinfold.open(home, supervise=False) as pinfold:
                for session in await pinfold.sandboxes.sessions():
                    if session.state.live:
                        await pinfold.sandboxes.kill(session.id)
                    await pinfold.sandboxes.remove(session.id)
        except PinfoldError as error:
            complain(f"the demo's sandboxes may still run; its home stays at {root}: {error}")
            return
    shutil.rmtree(root, ignore_errors=True)


async def _remove_abandoned(places: Sequence[Path]) -> None:
    for root in places:
        lock = FileLock(root / _LOCK, "the demo")
        if lock.try_acquire():
            try:
                await remove_demo(root)
            finally:
                lock.release()


def _earlier_demos(folder: Path) -> list[Path]:
    found = (path for path in folder.glob(f"{_PREFIX}*") if path.is_dir() and not path.is_symlink())
    return sorted(path for path in found if path.stat().st_uid == os.getuid())
