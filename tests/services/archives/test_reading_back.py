"""What is written is read back from the disk meanwhile, and counts only if it is what was written."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from services.archives.tars.compression import CompressedFile
from services.archives.working import Gauge, GivenUp
from services.archives.writing import reading_back
from services.archives.writing.files import FreshFile
from services.archives.writing.packing import Packing
from services.archives.writing.reading_back import ReadingBack
from services.archives.writing.workspace import pack
from services.errors import ArchiveError

BOUND = 30
NAMES = [pytest.param("workspace.tar.zst", id="zstd"), pytest.param("workspace.tar.gz", id="gzip")]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    return place


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """Twenty files of 100 kB that cannot be compressed."""
    place = tmp_path / "noise"
    place.mkdir()
    draw = random.Random(1)
    for number in range(20):
        (place / f"{number:02d}").write_bytes(draw.randbytes(100_000))
    return place


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_while_the_rest_is_written(
    noise: Path, out: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_back, "_STRETCH", 64 * 1024)
    with FreshFile(out, name) as file, ReadingBack(file) as reading:
        with CompressedFile(reading, zstd=name.endswith("zst")) as tar:
            for number, _ in enumerate(Packing(tar, Gauge()).pack(noise)):
                if number == 19:
                    until(lambda: reading._read > 0)
            tar.finish()
        found = reading.finish(Gauge())
        kept = file.finish(found.sha256, found.compressed)
    assert (found.members, found.size) == (21, tar.size)
    assert (out / name).stat().st_size == kept.size == found.compressed


def altered(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(1000)
        opened.write(b"other")


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("harm", [altered, cut, emptied])
def test_what_the_disk_made_something_else_of_is_not_kept(
    noise: Path, out: Path, name: str, harm: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = FreshFile.sync

    def harmed(self: FreshFile) -> int:
        descriptor = sync(self)
        if self.name == name:
            harm(out / f".{name}.new")
        return descriptor

    monkeypatch.setattr(FreshFile, "sync", harmed)
    with pytest.raises(ArchiveError, match="was not kept"):
        pack(out, name, noise, Gauge())
    assert not (out / name).exists()


def test_a_disk_that_reports_an_error_is_told(noise: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: FreshFile) -> int:
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(FreshFile, "sync", fails)
    with pytest.raises(OSError, match="Input/output error"):
        pack(out, "workspace.tar.gz", noise, Gauge())
    assert list(out.iterdir()) == []


def test_giving_up_leaves_no_thread_and_no_file(noise: Path, out: Path) -> None:
    gauge, before = Gauge(), threading.active_count()
    gauge.give_up()
    with pytest.raises(GivenUp):
        pack(out, "workspace.tar.gz", noise, gauge)
    assert threading.active_count() == before
    assert list(out.iterdir()) == []
