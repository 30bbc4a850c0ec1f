"""Any number of readers, in any process, see what one writer does, whatever becomes of it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.errors import SpoolError
from services.output import Chunk, Cursor, Position, SpoolReader, SpoolWriter, Stream
from tests.services.output.spool_model import batch, lines_of, raw_of

MEGABYTE = 1024 * 1024
ROOT = Path(__file__).parents[3]
OUT = Stream.STDOUT

FOLLOWER = """
import asyncio, hashlib, sys
from pathlib import Path
from services.output import SpoolReader

async def follow() -> None:
    digest, line, seen = hashlib.sha256(), 0, -1
    with SpoolReader.open(Path(sys.argv[1])) as reader:
        print("ready", flush=True)
        while not (reader.complete and line == reader.end):
            await reader.changed(seen)
            seen = reader.size
            whole = reader.end if reader.complete else reader.end - 1
            for each in reader.lines(line, whole - line, cut=10**9):
                digest.update(b"%d %d %s\\n" % (each.number, each.stream, each.data))
                line += 1
    print(line, digest.hexdigest())

asyncio.run(follow())
"""


def test_readers_in_other_processes_follow_to_the_end(tmp_path: Path) -> None:
    directory = tmp_path / "output"
    command = [sys.executable, "-c", FOLLOWER, str(directory)]
    followers = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) for _ in range(3)]
    outputs = [follower.stdout for follower in followers if follower.stdout is not None]
    assert [output.readline() for output in outputs] == [b"ready\n"] * 3
    with SpoolWriter.open(directory, limit=100 * MEGABYTE, keep_unindexed=False) as writer:
        for number in range(1, 400):
            writer.append(batch(number), Cursor(Position(number, 1)))
        writer.finish()
    digest = hashlib.sha256()
    with SpoolReader.open(directory) as reader:
        for line in reader.lines(0, 10**9, cut=10**9):
            digest.update(b"%d %d %s\n" % (line.number, line.stream, line.data))
        expected = f"{reader.end} {digest.hexdigest()}\n".encode()
    assert [follower.communicate(timeout=60)[0] for follower in followers] == [expected] * 3


async def test_changed_waits_for_output_for_completeness_and_for_what_is_dropped(tmp_path: Path) -> None:
    with (
        SpoolWriter.open(tmp_path, limit=200_000, keep_unindexed=True) as writer,
        SpoolReader.open(tmp_path) as reader,
    ):
        async with asyncio.timeout(20):
            await reader.changed(seen_size=-1)
            waiting = asyncio.create_task(reader.changed(reader.size))
            await asyncio.sleep(0.02)
            assert not waiting.done()
            writer.append([Chunk(OUT, b"more\n", 0)])
            await waiting
            assert lines_of(reader) == [(OUT, b"more")]
            waiting = asyncio.create_task(reader.changed(reader.size))
            await asyncio.sleep(0.02)
            writer.finish()
            await waiting
            assert reader.complete
            for _ in range(10):
                writer.append([Chunk(OUT, b"x" * 60_000 + b"\n", 0)])
            await reader.changed(reader.size)
            assert reader.first > 0


def test_a_reader_keeps_what_it_holds_when_the_session_is_removed(tmp_path: Path) -> None:
    directory = tmp_path / "output"
    with SpoolWriter.open(directory, limit=MEGABYTE, keep_unindexed=True) as writer:
        writer.append([Chunk(OUT, b"%d\n" % number, number * 10**9) for number in range(1000)])
    with SpoolReader.open(directory) as reader:
        before = lines_of(reader)
        shutil.rmtree(directory)
        assert not reader.refresh()
        assert lines_of(reader) == before
        assert list(reader.raw()) == []


def test_a_reader_that_fell_behind_goes_on_where_output_is_still_kept(tmp_path: Path) -> None:
    with (
        SpoolWriter.open(tmp_path, limit=200_000, keep_unindexed=True) as writer,
        SpoolReader.open(tmp_path) as reader,
    ):
        writer.append([Chunk(OUT, b"early\n", 0)])
        reader.refresh()
        for number in range(200):
            writer.append([Chunk(OUT, b"%09d\n" % number * 1000, 0)])
        assert lines_of(reader) == [(OUT, b"early")]
        assert reader.refresh()
        with SpoolReader.open(tmp_path) as fresh:
            assert (reader.first, reader.end, reader.size) == (fresh.first, fresh.end, fresh.size)
            assert lines_of(reader) == lines_of(fresh)


acts = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 400)),
        st.tuples(st.sampled_from(["crash, index", "crash, data", "crash, runs"]), st.integers(0, 300)),
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(acts, st.sampled_from([200_000, 100 * MEGABYTE]), st.booleans())
def test_a_reader_sees_what_a_fresh_one_sees_after_every_crash(
    acts: list[tuple[str, int]], limit: int, keep_unindexed: bool
) -> None:
    with TemporaryDirectory() as place:
        directory = Path(place)
        writer = SpoolWriter.open(directory, limit=limit, keep_unindexed=keep_unindexed)
        with SpoolReader.open(directory) as following:
            for act, number in acts:
                if act == "append":
                    writer.append(batch(number), Cursor(Position(number, 1)))
                else:
                    writer.close()
                    tear(directory, act.removeprefix("crash, ").replace("data", "out"), number)
                    with contextlib.suppress(
                        SpoolError
                    ):  # a file that shrinks under a reader is damaged until repaired
                        following.refresh()
                        lines_of(following)
                    writer = SpoolWriter.open(directory, limit=limit, keep_unindexed=keep_unindexed)
                following.refresh()
                with SpoolReader.open(directory) as fresh:
                    assert (following.first, following.end, following.size) == (fresh.first, fresh.end, fresh.size)
                    assert lines_of(following) == lines_of(fresh)
                    assert raw_of(following, *Stream) == raw_of(fresh, *Stream)
        writer.close()


def tear(directory: Path, suffix: str, size: int) -> None:
    """Cut the end off a file of the last segment."""
    for path in sorted(directory.glob(f"*.{suffix}"))[-1:]:
        with path.open("r+b") as file:
            file.truncate(max(0, path.stat().st_size - size))


@pytest.mark.parametrize("damage", [b"", b"nonsense"])
def test_files_that_are_no_spool_are_left_out(tmp_path: Path, damage: bytes) -> None:
    for name in ("000000000000.index", "notes.txt", "x.index", "figures"):
        (tmp_path / name).write_bytes(damage)
    with SpoolReader.open(tmp_path) as reader:
        assert (reader.end, lines_of(reader)) == (0, [])
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=False) as writer:
        writer.append([Chunk(OUT, b"a\n", 0)])
    with SpoolReader.open(tmp_path) as reader:
        assert lines_of(reader) == [(OUT, b"a")]
    assert (tmp_path / "notes.txt").read_bytes() == damage
