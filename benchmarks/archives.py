"""Packs 10,000 files (1 GB) and verifies the archive, beside tar and sha256sum over the same bytes in the same run.

`python -m benchmarks.archives` takes the number of megabytes as an argument; without one it takes 1,000, or what a
third of the free disk allows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from benchmarks.result import Result
from services.activity import ActivityLog, Events
from services.archives import (
    ArchiveDraft,
    ArchiveKind,
    Archives,
    ArchiveWriter,
    Done,
    Sealing,
    Work,
    result_of,
)
from services.archives.working import Gauge
from services.archives.writing.workspace import pack
from services.home import BlockingCalls, Database, Home
from services.memory import AgentMemory, Draft, Owner, Row, Screening
from services.memory.agents import SqliteBackend

FILES = 10_000
ROWS = 100_000
MEGABYTE = 1e6
WORDS = b"agent fetch commit sandbox memory scope session layer policy archive runner engine node spool index stream"
POOL = 50_000_000
EVERY = 0.1


def make_workspace(place: Path, megabytes: int) -> None:
    """Files of one size in a hundred folders, half of their bytes text and half noise, as repositories have them."""
    draw = random.Random(1)
    size = int(megabytes * MEGABYTE / FILES)
    pool = b" ".join(draw.choices(WORDS.split(), k=POOL // 6))
    for number in range(FILES):
        folder = place / f"folder{number % 100:02d}"
        folder.mkdir(parents=True, exist_ok=True)
        start = draw.randrange(len(pool) - size // 2)
        text = pool[start : start + size // 2]
        (folder / f"file{number}").write_bytes(text + draw.randbytes(size - len(text)))


def timed(command: list[str], place: Path) -> float:
    """Seconds a command takes."""
    started = time.perf_counter()
    subprocess.run(command, cwd=place, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


async def watched(work: Work[object]) -> tuple[float, float]:
    """Seconds some work takes, and the longest it said nothing."""
    started = last = time.perf_counter()
    silence = 0.0
    async with contextlib.aclosing(work) as told:
        async for event in told:
            now = time.perf_counter()
            silence, last = max(silence, now - last), now
            if isinstance(event, Done):
                break
    return time.perf_counter() - started, silence


class Peak:
    """The most memory this process held while it was watched, above what it held before; bytes."""

    def __init__(self) -> None:
        self.grown = 0
        self._before = resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._ended.set()
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.grown = max(self.grown, resident() - self._before)


def resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def memory_with_rows(database: Database, calls: BlockingCalls) -> AgentMemory:
    """An agent that remembers much."""
    backend = SqliteBackend(database, time.time_ns, _ids())
    memory = AgentMemory(Owner("bot", Path("/nowhere")), (), backend, Screening(), calls)
    draft = await memory.store(Draft(key="first", content=WORDS.decode()))
    rows = [_copy(draft, number) for number in range(1, ROWS)]
    for start in range(0, len(rows), 5000):
        await memory.take_in(rows[start : start + 5000])
    return memory


def _copy(row: Row, number: int) -> Row:
    return msgspec.structs.replace(row, id=f"{number:032x}", key=f"key {number:06d}")


def _ids() -> Callable[[], str]:
    numbers = iter(range(10**9))
    return lambda: f"{next(numbers):032x}"


async def measure(root: Path, megabytes: int) -> list[Result]:
    """Pack, export and verify."""
    workspace = root / "workspace"
    await asyncio.to_thread(make_workspace, workspace, megabytes)
    home, calls = Home(root / "home"), BlockingCalls()
    async with Database(home.database_file) as database:
        events = Events()
        archives = Archives(home, database, ActivityLog(database, events), events, calls)
        memory = await memory_with_rows(database, calls)
        writer = await archives.create(ArchiveDraft(ArchiveKind.DELETE, "bot"))
        results = await _packing(writer, workspace, root)
        results += await _exporting(writer, memory, home)
        archive = await writer.seal(Sealing())
        results += await _verifying(archives, archive.id, archive.path)
    calls.close()
    return results


async def _packing(writer: ArchiveWriter, workspace: Path, root: Path) -> list[Result]:
    tar = ["tar", "czf", str(root / "plain.tar.gz"), "-C", str(workspace.parent), workspace.name]
    plain = await asyncio.to_thread(timed, tar, root)
    started = time.perf_counter()
    await asyncio.to_thread(pack, root, "workspace.tar.gz", workspace, Gauge())
    gzipped = time.perf_counter() - started
    peak = Peak()
    with peak.watching():
        seconds, silence = await watched(writer.pack_workspace(workspace))
    grown = peak.grown / MEGABYTE
    return [
        Result("archive-pack-gzip", gzipped, "s", plain, "at-most-1.3-times", gzipped <= 1.3 * plain),
        Result("archive-pack", seconds, "s", plain, "at-most-1.3-times", seconds <= 1.3 * plain),
        Result("archive-pack-memory", grown, "MB", 0.0, "at-most-200", grown <= 200),
        Result("archive-pack-silence", silence * 1000, "ms", 0.0, "at-most-100", silence <= EVERY),
    ]


async def _exporting(writer: ArchiveWriter, memory: AgentMemory, home: Home) -> list[Result]:
    sql = ["sqlite3", str(home.database_file), ".mode json", "SELECT * FROM memories"]
    peak = Peak()
    with peak.watching():
        seconds, silence = await watched(writer.write_memory(memory.read_out(), ROWS))
    plain = await asyncio.to_thread(timed, sql, home.root) if shutil.which("sqlite3") else 0.0
    return [
        Result("archive-rows", seconds, "s", plain),
        Result("archive-rows-memory", peak.grown / MEGABYTE, "MB", 0.0, "at-most-200", peak.grown <= 200 * MEGABYTE),
        Result("archive-rows-silence", silence * 1000, "ms", 0.0, "at-most-100", silence <= EVERY),
    ]


async def _verifying(archives: Archives, id: str, place: Path) -> list[Result]:
    command = ["sha256sum", "--quiet", "-c", "checksums.sha256"]
    plain = min([await asyncio.to_thread(timed, command, place) for _ in range(3)])
    seconds = min([(await watched(archives.verify(id)))[0] for _ in range(3)])
    assert (await result_of(archives.verify(id))).intact
    return [Result("archive-verify", seconds, "s", plain, "at-most-1.2-times", seconds <= 1.2 * plain)]


def main(arguments: list[str]) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="pinfold-bench-") as folder:
        third = shutil.disk_usage(folder).free / 3 / MEGABYTE
        megabytes = int(arguments[0]) if arguments else int(min(1000, third))
        print(f"{megabytes} MB in {FILES} files, {ROWS} rows", flush=True)
        for result in asyncio.run(measure(Path(folder), megabytes)):
            print(result.line())


if __name__ == "__main__":
    main(sys.argv[1:])
