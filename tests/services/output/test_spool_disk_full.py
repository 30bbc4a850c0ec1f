"""A disk that cannot be written loses output, never the session: what is lost is counted, and noted once it can."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.output import Chunk, Cursor, Position, SpoolReader, SpoolWriter, Stream
from tests.services.output.spool_model import lines_of, raw_of

MEGABYTE = 1024 * 1024
SECOND = 10**9


class Clock:
    """Moves only when told to."""

    def __init__(self) -> None:
        self.at = 1_700_000_000 * SECOND

    def __call__(self) -> int:
        return self.at


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "pinfold-test", str(place)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"only root can mount a small file system: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def block(number: int) -> bytes:
    return b"".join(b"%04d %04d %s\n" % (number, line, b"." * 80) for line in range(100))


def test_a_full_disk_is_counted_and_noted_and_the_rest_is_there(small_disk: Path) -> None:
    clock = Clock()
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(150 * 1024))
    with SpoolWriter.open(small_disk / "output", limit=MEGABYTE, keep_unindexed=False, now=clock) as writer:
        sent = 0
        while not writer.lines_lost:
            writer.append([Chunk(Stream.STDOUT, block(sent), clock.at)], Cursor(Position(sent + 1, 1)))
            sent += 1
        written = sent - writer.lines_lost // 100
        assert 0 < written < sent
        for _ in range(3):
            writer.append([Chunk(Stream.STDOUT, block(sent), clock.at)], Cursor(Position(sent + 1, 1)))
            sent += 1
        lost = (sent - written) * 100
        assert (writer.lines_lost, writer.bytes_lost) == (lost, lost * len(block(0)) // 100)
        with SpoolReader.open(small_disk / "output") as reader:
            assert (reader.lost_lines, reader.lost_bytes) == (writer.lines_lost, writer.bytes_lost)
            assert raw_of(reader, Stream.STDOUT) == b"".join(map(block, range(written)))
            ballast.unlink()
            clock.at += 2 * SECOND
            writer.append([Chunk(Stream.STDOUT, b"space again\n", clock.at)], Cursor(Position(sent + 1, 1)))
            reader.refresh()
            assert raw_of(reader, Stream.STDOUT) == b"".join(map(block, range(written))) + b"space again\n"
            note = f"{lost:,} lines ({writer.bytes_lost:,} bytes) lost: disk full".encode()
            assert lines_of(reader)[-2:] == [(Stream.NOTE, note), (Stream.STDOUT, b"space again")]
            assert (reader.lost_lines, reader.lost_bytes) == (lost, writer.bytes_lost)
    with SpoolWriter.open(small_disk / "output", limit=MEGABYTE, keep_unindexed=False) as writer:
        assert writer.cursor == Cursor(Position(sent + 1, 1))
        assert writer.lines_lost == lost


def test_what_was_lost_comes_again_when_the_writer_dies_before_it_is_noted(small_disk: Path) -> None:
    output = small_disk / "output"
    writer = SpoolWriter.open(output, limit=MEGABYTE, keep_unindexed=False)
    sent = 0
    while not writer.lines_lost:
        writer.append([Chunk(Stream.STDOUT, block(sent), 0)], Cursor(Position(sent + 1, 1)))
        sent += 1
    writer._lock.release()  # as the kernel does when the process is killed
    with SpoolWriter.open(output, limit=MEGABYTE, keep_unindexed=False) as again:
        assert again.cursor == Cursor(Position(sent - 1, 1))
        assert again.lines_lost == 0
    assert writer._segment is not None
    writer._segment.close()
    writer._figures_file.close()


def test_a_note_waits_for_space(small_disk: Path) -> None:
    clock = Clock()
    with SpoolWriter.open(small_disk / "output", limit=MEGABYTE, keep_unindexed=False, now=clock) as writer:
        writer.append([Chunk(Stream.STDOUT, b"before\n", clock.at)])
        fill(small_disk / "ballast")
        writer.append([Chunk(Stream.STDOUT, block(0) * 8, clock.at)])
        writer.note("the engine's log has a gap")
        assert writer.lines_lost == 800
        (small_disk / "ballast").unlink()
        clock.at += 2 * SECOND
        writer.flush()
        with SpoolReader.open(small_disk / "output") as reader:
            shown = [data for _, data in lines_of(reader)]
            assert shown[0] == b"before"
            assert re.match(rb"800 lines \([\d,]+ bytes\) lost: disk full", shown[1])
            assert shown[2] == b"the engine's log has a gap"
            assert reader.lost_lines == 800


def fill(path: Path) -> None:
    free = shutil.disk_usage(path.parent).free
    path.write_bytes(bytes(free))
    with path.open("ab", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        file.write(b"more")


@pytest.fixture
def file_size_limit() -> Iterator[None]:
    """No file of this process may grow beyond 64 KiB until the test raises the limit again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_any_other_failure_is_treated_the_same_with_its_reason(tmp_path: Path, file_size_limit: None) -> None:
    clock = Clock()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with SpoolWriter.open(tmp_path, limit=100 * MEGABYTE, keep_unindexed=True, now=clock) as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, hard))
        for number in range(20):
            writer.append([Chunk(Stream.STDERR, block(number), clock.at)])
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lost = writer.lines_lost
        assert 0 < lost < 2000
        clock.at += 2 * SECOND
        writer.append([Chunk(Stream.STDERR, b"space again", clock.at)])
    with SpoolReader.open(tmp_path) as reader:
        kept = 20 - lost // 100
        assert raw_of(reader, Stream.STDERR) == b"".join(map(block, range(kept))) + b"space again"
        assert reader.lines(kept * 100, 1)[0].data.endswith(b" lost: file size limit reached")


def test_one_line_is_said_as_one(tmp_path: Path, file_size_limit: None) -> None:
    clock = Clock()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with SpoolWriter.open(tmp_path, limit=MEGABYTE, keep_unindexed=True, now=clock) as writer:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        writer.append([Chunk(Stream.STDOUT, b"." * 200 + b"\n", clock.at)])
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with SpoolReader.open(tmp_path) as reader:
        assert lines_of(reader) == [(Stream.NOTE, b"1 line (201 bytes) lost: file size limit reached")]


def test_a_session_may_begin_on_a_full_disk(small_disk: Path) -> None:
    clock = Clock()
    fill(small_disk / "ballast")
    with SpoolWriter.open(small_disk / "output", limit=MEGABYTE, keep_unindexed=False, now=clock) as writer:
        writer.append([Chunk(Stream.STDOUT, b"lost\n", clock.at)])
        assert writer.lines_lost == 1
        (small_disk / "ballast").unlink()
    with SpoolReader.open(small_disk / "output") as reader:
        assert lines_of(reader) == [(Stream.NOTE, b"1 line (5 bytes) lost: disk full")]
        assert (reader.lost_lines, reader.lost_bytes) == (1, 5)
