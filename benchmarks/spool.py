"""Writes a session of 10 million lines (1.2 GB), then opens, reads and searches it in a fresh process.

Baselines are the plain way in the same run: a file written and read directly, and grep. `python -m benchmarks.spool`
takes the number of lines as an argument.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from benchmarks.result import Result
from services.output import (
    Chunk,
    Cursor,
    Filter,
    FilteredLines,
    Position,
    Query,
    Search,
    SpoolReader,
    SpoolWriter,
    Stream,
)

T = TypeVar("T")

LINES = 10_000_000
BATCH = 64 * 1024 // 120
TEXT = b"agent fetch commit sandbox memory scope session layer policy archive runner engine node spool index stream"
MISSING = "no such line is here"
ROUNDS = 3
WINDOW = 50
MEGABYTE = 1e6


def batch(first: int, lines: int) -> bytes:
    """Lines of 120 bytes."""
    return b"".join([b"%012d %s\n" % (number, TEXT) for number in range(first, first + lines)])


def write(directory: Path, plain: Path, lines: int) -> Result:
    """Write the session, and the same bytes to a plain file; microseconds a line."""
    spooled = written = 0.0
    with (
        SpoolWriter.open(directory, limit=10**12, keep_unindexed=False) as writer,
        plain.open("wb", buffering=0) as file,
    ):
        for first in range(0, lines, BATCH):
            data = batch(first, min(BATCH, lines - first))
            started = time.perf_counter()
            writer.append([Chunk(Stream.STDOUT, data, first * 20_000)], Cursor(Position(first + 1, 1)))
            spooled += time.perf_counter() - started
            started = time.perf_counter()
            file.write(data)
            written += time.perf_counter() - started
        writer.finish()
    value, baseline = (seconds * 1e6 / lines for seconds in (spooled, written))
    return Result("spool-append", value, "us/line", baseline, "at-most-5", value <= 5)


def read(directory: Path, plain: Path) -> list[Result]:
    """Open, read and search in this process, which has done nothing else yet."""
    before = resident()
    opening, reader = timed(lambda: SpoolReader.open(directory))
    last = reader.lines(reader.end - WINDOW, WINDOW)
    results = [
        Result("spool-open", opening, "ms", best_of(lambda: end_of(plain)), "at-most-200", opening <= 200),
        window(reader, plain),
    ]
    assert last[-1].number == reader.end - 1
    searches = (
        ("spool-search", Query(MISSING), ("grep", "-c", "-F", MISSING), 500.0),
        ("spool-search-rare", Query("000777777 agent"), ("grep", "-c", "-F", "000777777 agent"), 500.0),
        ("spool-search-case", Query(MISSING.upper(), ignore_case=True), ("grep", "-c", "-i", "-F", MISSING), 0.0),
        ("spool-search-regex", Query("no [sx]uch line$", regex=True), ("grep", "-c", "-E", "no [sx]uch line$"), 0.0),
    )
    for row, query, command, least in searches:
        ours = max(asyncio.run(search_speed(reader, query)) for _ in range(ROUNDS if least else 1))
        theirs = max(grep_speed(command, plain) for _ in range(ROUNDS if least else 1))
        target = f"at-least-{least:g}" if least else "-"
        results.append(Result(row, ours, "MB/s", theirs, target, ours >= least))
    reading = max(plain_speed(plain) for _ in range(ROUNDS))
    results.append(Result("spool-search-to-plain", results[2].value, "MB/s", reading))
    results.append(Result("spool-first-hit", asyncio.run(first_hit(reader)), "ms", 0.0))
    grown = (resident() - before) / MEGABYTE
    results.append(Result("spool-memory", grown, "MB", 0.0, "at-most-50", grown <= 50))
    return results


def window(reader: SpoolReader, plain: Path) -> Result:
    """A screen of lines anywhere, beside the same bytes from the plain file; milliseconds, median."""
    places = random.Random(1)
    starts = [places.randrange(reader.end - WINDOW) for _ in range(200)]
    ours = statistics.median(timed(partial(reader.lines, start, WINDOW))[0] for start in starts)
    with plain.open("rb", buffering=0) as file:

        def lines(start: int) -> list[bytes]:
            file.seek(start * 120)
            return file.read(WINDOW * 120).split(b"\n")

        theirs = statistics.median(timed(partial(lines, start))[0] for start in starts)
    return Result("spool-window", ours, "ms", theirs, "at-most-2", ours <= 2)


async def search_speed(reader: SpoolReader, query: Query) -> float:
    """Megabytes a second through the whole session."""
    started = time.perf_counter()
    with Search(reader, query) as search:
        async with contextlib.aclosing(search.run()) as progress:
            async for _ in progress:
                pass
        assert search.complete
    return reader.size / MEGABYTE / (time.perf_counter() - started)


async def first_hit(reader: SpoolReader) -> float:
    """Milliseconds until a filter shows its first row of millions."""
    started = time.perf_counter()
    with FilteredLines(reader, Filter(query=Query("sandbox"))) as filtered:
        async with contextlib.aclosing(filtered.run()) as progress:
            async for at in progress:
                if at.count:
                    break
    return (time.perf_counter() - started) * 1000


def grep_speed(command: tuple[str, ...], plain: Path) -> float:
    """Megabytes a second that grep goes through."""
    started = time.perf_counter()
    subprocess.run([*command, str(plain)], env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.DEVNULL, check=False)
    return plain.stat().st_size / MEGABYTE / (time.perf_counter() - started)


def plain_speed(plain: Path) -> float:
    """Megabytes a second of reading and nothing else."""
    started = time.perf_counter()
    with plain.open("rb", buffering=0) as file:
        while file.read(256 * 1024):
            pass
    return plain.stat().st_size / MEGABYTE / (time.perf_counter() - started)


def end_of(plain: Path) -> bytes:
    """What `tail` would read."""
    with plain.open("rb", buffering=0) as file:
        file.seek(-WINDOW * 120, os.SEEK_END)
        return file.read()


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds a call takes, and its result."""
    started = time.perf_counter()
    result = call()
    return (time.perf_counter() - started) * 1000, result


def best_of(call: Callable[[], object]) -> float:
    """Milliseconds of the quickest of several calls."""
    return min(timed(call)[0] for _ in range(ROUNDS))


def resident() -> int:
    """Bytes of memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main(arguments: list[str]) -> None:
    """Measure and print."""
    if arguments[:1] == ["read"]:
        for result in read(Path(arguments[1]), Path(arguments[2])):
            print(result.line())
        return
    lines = int(arguments[0]) if arguments else LINES
    with tempfile.TemporaryDirectory(prefix="pinfold-bench-") as folder:
        directory, plain = Path(folder) / "output", Path(folder) / "plain"
        print(write(directory, plain, lines).line(), flush=True)
        subprocess.run([sys.executable, "-m", "benchmarks.spool", "read", str(directory), str(plain)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
