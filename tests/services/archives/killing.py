"""Writers of archives in processes of their own, killed and then gone on with: `python -m … TIMES HOME WORKSPACE`.

One interpreter loads everything once and forks.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path

from services.activity import ActivityLog, Events
from services.archives import (
    ArchiveDraft,
    ArchiveKind,
    Archives,
    ArchiveState,
    ArchiveWriter,
    Sealing,
    Wanted,
    result_of,
)
from services.errors import ArchiveDamaged
from services.home import BlockingCalls, Database, Home
from tests.services.archives.rows import rows_of, some_rows

LONGEST = 0.12
"""Seconds after which a writer is killed at the latest; it needs about as long."""


def alias_of(number: int) -> str:
    """The agent of one round."""
    return f"bot{number}"


async def write(home: Home, workspace: Path, number: int) -> None:
    """Go on with the archive of this round, or begin it."""
    calls, events = BlockingCalls(), Events()
    async with Database(home.database_file) as database:
        archives = Archives(home, database, ActivityLog(database, events), events, calls)
        writer = await _writer(archives, alias_of(number))
        if writer is not None:
            if not writer.sealed:  # killed before the index said so
                await _write_parts(writer, workspace)
            await writer.seal(Sealing())
    calls.close()


async def _write_parts(writer: ArchiveWriter, workspace: Path) -> None:
    await result_of(writer.write_agent_file(b"[agent]\n"))
    await result_of(writer.pack_workspace(workspace))
    await result_of(writer.write_memory(rows_of(some_rows(700))))
    await result_of(writer.write_session("s1", b"{}", workspace))


async def _writer(archives: Archives, alias: str) -> ArchiveWriter | None:
    for archive in await archives.list(Wanted(alias=alias)):
        if archive.state is ArchiveState.SEALED:
            return None
        try:
            return await archives.resume(archive.id)
        except ArchiveDamaged:  # killed before it said what it is for
            await result_of(archives.purge(archive.id, alias))
    return await archives.create(ArchiveDraft(ArchiveKind.DELETE, alias))


def forked(home: Home, workspace: Path, number: int) -> int:
    """Write in a process of its own; return its id."""
    child = os.fork()
    if child == 0:
        asyncio.run(write(home, workspace, number))
        os._exit(0)
    return child


def main(times: int, home: Home, workspace: Path) -> None:
    """Kill a writer, and let another one go on, again and again."""
    moments = random.Random(times)
    for number in range(times):
        for _ in range(2):
            child = forked(home, workspace, number)
            time.sleep(moments.uniform(0, LONGEST))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert os.waitpid(forked(home, workspace, number), 0)[1] == 0


if __name__ == "__main__":
    main(int(sys.argv[1]), Home(Path(sys.argv[2])), Path(sys.argv[3]))
