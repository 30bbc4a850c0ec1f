"""A lock has one holder over all processes, and none once its holder is dead."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import pytest

from services.errors import LockHeld, PinfoldError
from services.home import FileLock
from tests.services.home.processes import SECONDS, outputs, start

HOLD = """
import sys
from pathlib import Path
from services.home import FileLock
with FileLock(Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.read()
"""

COUNT = """
import sys
from pathlib import Path
from services.home import FileLock
counter = Path(sys.argv[2])
for _ in range(25):
    lock = FileLock(Path(sys.argv[1]), "the counter")
    lock.acquire(30)
    counter.write_text(str(int(counter.read_text()) + 1))
    lock.release()
"""


def test_has_one_holder_over_processes_until_that_lets_go(tmp_path: Path) -> None:
    process = start(HOLD, tmp_path / "lock")
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    lock = FileLock(tmp_path / "lock", "it")
    assert not lock.try_acquire()
    assert not lock.held
    outputs([process])
    assert lock.try_acquire()
    assert lock.held
    lock.release()


def test_is_free_once_its_holder_was_killed(tmp_path: Path) -> None:
    process = start(HOLD, tmp_path / "lock")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=SECONDS)
    assert FileLock(tmp_path / "lock", "it").try_acquire()


def test_two_objects_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock", "it"):
        assert not FileLock(tmp_path / "lock", "it").try_acquire()
    assert FileLock(tmp_path / "lock", "it").try_acquire()


def test_in_a_with_block_says_what_is_in_use(tmp_path: Path) -> None:
    with (
        FileLock(tmp_path / "lock", "the agent reviewer"),
        pytest.raises(LockHeld, match="the agent reviewer is in use"),
        FileLock(tmp_path / "lock", "the agent reviewer"),
    ):
        pass


def test_waits_for_its_holder_and_no_longer_than_allowed(tmp_path: Path) -> None:
    holder, waiter = FileLock(tmp_path / "lock", "it"), FileLock(tmp_path / "lock", "it")
    holder.acquire(0)
    began = time.monotonic()
    with pytest.raises(LockHeld):
        waiter.acquire(0.1)
    assert 0.1 <= time.monotonic() - began < 5
    threading.Timer(0.05, holder.release).start()
    waiter.acquire(SECONDS)
    assert waiter.held


def test_keeps_changes_of_many_processes_apart(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    outputs([start(COUNT, tmp_path / "lock", counter) for _ in range(4)])
    assert counter.read_text() == "100"


def test_makes_the_directory_of_its_file(tmp_path: Path) -> None:
    assert FileLock(tmp_path / "state" / "locks" / "a.lock", "it").try_acquire()


def test_says_why_its_file_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "locks").touch()
    with pytest.raises(PinfoldError, match="cannot lock it"):
        FileLock(tmp_path / "locks" / "a.lock", "it").try_acquire()
    with pytest.raises(PinfoldError, match="Is a directory"):
        FileLock(tmp_path, "it").try_acquire()
