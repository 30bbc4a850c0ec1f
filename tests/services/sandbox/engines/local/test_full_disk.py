"""A disk that fills up while a sandbox runs: it goes on, and its end is recorded all the same."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.errors import PinfoldError
from services.sandbox.engines.local.supervisor import Process, Record, read_record, write_record
from tests.services.sandbox.engines.local.bench import Bench


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", os.fsencode(place), b"tmpfs", 0, b"size=1m") != 0:
        pytest.skip("only root may mount a file system")
    yield place
    libc.umount2(os.fsencode(place), 2)


async def test_sandbox_goes_on_and_its_status_is_recorded(tiny_disk: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path, confined=False)
    bench.home.sessions_dir.parent.mkdir(parents=True)
    bench.home.sessions_dir.symlink_to(tiny_disk)
    sandbox = await bench.start(bench.sh("seq 1 600000; touch through; exit 5"))

    state = await bench.end(sandbox)

    assert (bench.workspace / "through").exists()
    assert (state.status, state.exit_code) == ("exited", 5)
    with bench.reader(sandbox) as reader:
        assert reader.lost_lines > 0
        assert reader.lines(0, 1)[0].data == b"1"
    await bench.close()
    assert bench.left_running() == []


async def test_sandbox_that_finds_no_room_at_all_is_refused_with_the_reason(tiny_disk: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path, confined=False)
    bench.home.sessions_dir.parent.mkdir(parents=True)
    bench.home.sessions_dir.symlink_to(tiny_disk)
    _fill(tiny_disk / "filler")

    with pytest.raises(PinfoldError, match="No space left"):
        await bench.engine.create(bench.sh("true"), {})

    (tiny_disk / "filler").unlink()
    await bench.close()


def test_record_is_replaced_on_a_full_disk(tiny_disk: Path) -> None:
    record = Record(Process(1, 2, "boot"), "running", confined=True)
    write_record(tiny_disk, record)
    _fill(tiny_disk / "filler")
    ended = Record(Process(1, 2, "boot"), "exited", confined=True, exit_code=3, error="e" * 10_000)

    write_record(tiny_disk, ended)

    found = read_record(tiny_disk)
    assert found is not None
    assert (found.status, found.exit_code, found.error) == ("exited", 3, "e" * 500)
    assert sorted(path.name for path in tiny_disk.iterdir()) == ["filler", "local.json"]


def _fill(file: Path) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(descriptor, b"x" * 4096):
            pass
    os.close(descriptor)
