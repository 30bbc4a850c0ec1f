"""Files are written whole or not at all, and never over a change nobody saw."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from services.errors import FileConflict, PinfoldError
from services.home import MISSING, FileText, Stamp, make_directory, read_file, write_whole
from tests.services.home.processes import start
from tests.services.home.small_disk import needs_small_disk

WRITE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from services.home import write_whole

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(os if sys.argv[2] == "fsync" else Path, sys.argv[2], die)
write_whole(Path(sys.argv[1]), b"new")
"""


def litter(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir() if path.name.endswith(".new")]


class TestReading:
    def test_gives_the_bytes_as_they_are(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"\xef\xbb\xbfa\r\n\xff")
        assert read_file(file) == FileText(file, b"\xef\xbb\xbfa\r\n\xff", Stamp.of(file))

    def test_a_missing_file_is_told_from_one_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            read_file(tmp_path / "a")

    def test_refuses_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(PinfoldError, match="it is a directory"):
            read_file(tmp_path)

    def test_refuses_a_pipe_without_waiting_for_a_writer(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(PinfoldError, match="not a regular file"):
            read_file(tmp_path / "pipe")

    def test_refuses_links_that_lead_in_a_circle(self, tmp_path: Path) -> None:
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(PinfoldError, match="symbolic links"):
            read_file(tmp_path / "a")

    def test_refuses_a_path_through_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        with pytest.raises(PinfoldError, match="Not a directory"):
            read_file(tmp_path / "a" / "b")

    def test_refuses_more_than_the_limit(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"x" * 2048)
        assert len(read_file(tmp_path / "a", 2048).data) == 2048
        with pytest.raises(PinfoldError, match="larger than 1 KiB"):
            read_file(tmp_path / "a", 2047)

    def test_says_that_a_disk_reports_an_error(self) -> None:
        with pytest.raises(PinfoldError, match="Input/output error"):
            read_file(Path("/proc/self/mem"))


class TestWriting:
    def test_makes_a_file_only_its_owner_may_read(self, tmp_path: Path) -> None:
        stamp = write_whole(tmp_path / "a", b"one")
        assert (tmp_path / "a").read_bytes() == b"one"
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
        assert stamp == Stamp.of(tmp_path / "a")

    def test_keeps_the_mode_of_the_file_it_replaces(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        file.chmod(0o664)
        write_whole(file, b"two")
        assert file.read_bytes() == b"two"
        assert stat.S_IMODE(file.stat().st_mode) == 0o664

    @pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
    def test_keeps_the_owner_of_the_file_it_replaces(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        os.chown(file, 1234, 2345)
        write_whole(file, b"two")
        assert (file.stat().st_uid, file.stat().st_gid) == (1234, 2345)

    def test_writes_through_a_link_and_leaves_it_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        target, link = tmp_path / "real" / "a", tmp_path / "link"
        target.write_bytes(b"one")
        link.symlink_to(target)
        write_whole(link, b"two", expected=read_file(link))
        assert link.is_symlink()
        assert target.read_bytes() == b"two"

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    def test_killed_on_the_way_leaves_the_old_file_whole(self, tmp_path: Path, step: str) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"old")
        process = start(WRITE_AND_DIE, file, step)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert file.read_bytes() == b"old"
        write_whole(file, b"new")
        assert file.read_bytes() == b"new"

    def test_says_why_it_cannot_write_and_leaves_nothing_behind(self, tmp_path: Path) -> None:
        (tmp_path / "taken").mkdir()
        with pytest.raises(PinfoldError, match=r"cannot write .*: Is a directory"):
            write_whole(tmp_path / "taken", b"x")
        with pytest.raises(PinfoldError, match="No such file or directory"):
            write_whole(tmp_path / "none" / "a", b"x")
        assert litter(tmp_path) == []

    @needs_small_disk
    def test_a_full_disk_leaves_the_old_file_whole(self, small_disk: Path) -> None:
        file = small_disk / "a"
        file.write_bytes(b"old")
        with pytest.raises(PinfoldError, match="No space left on device"):
            write_whole(file, b"x" * 8 * 1024 * 1024)
        assert file.read_bytes() == b"old"
        assert litter(small_disk) == []


class TestConflicts:
    def test_a_file_changed_since_it_was_read_is_not_overwritten(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        read = read_file(file)
        file.write_bytes(b"theirs")
        for expected in (read, read.stamp):
            with pytest.raises(FileConflict, match="changed on disk"):
                write_whole(file, b"ours", expected=expected)
        assert file.read_bytes() == b"theirs"
        assert litter(tmp_path) == []

    def test_a_change_too_quick_for_the_clock_is_still_seen_in_the_text(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        read = read_file(file)
        file.write_bytes(b"two")
        os.utime(file, ns=(read.stamp.modified_ns, read.stamp.modified_ns))
        assert Stamp.of(file) == read.stamp
        with pytest.raises(FileConflict):
            write_whole(file, b"ours", expected=read)

    def test_a_file_only_touched_is_no_conflict(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        read = read_file(file)
        os.utime(file, ns=(1, 1))
        write_whole(file, b"two", expected=read)
        assert file.read_bytes() == b"two"

    def test_a_file_replaced_by_one_of_the_same_size_and_time_is_a_conflict(self, tmp_path: Path) -> None:
        file, other = tmp_path / "a", tmp_path / "b"
        file.write_bytes(b"one")
        stamp = Stamp.of(file)
        other.write_bytes(b"two")
        os.utime(other, ns=(stamp.modified_ns, stamp.modified_ns))
        other.rename(file)
        with pytest.raises(FileConflict):
            write_whole(file, b"ours", expected=stamp)

    def test_a_file_that_went_is_a_conflict(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.write_bytes(b"one")
        read = read_file(file)
        file.unlink()
        for expected in (read, read.stamp):
            with pytest.raises(FileConflict):
                write_whole(file, b"ours", expected=expected)

    def test_a_file_that_appeared_is_a_conflict(self, tmp_path: Path) -> None:
        file = tmp_path / "a"
        file.touch()
        with pytest.raises(FileConflict):
            write_whole(file, b"ours", expected=MISSING)


class TestDirectories:
    def test_are_made_with_their_parents_for_their_owner_only(self, tmp_path: Path) -> None:
        assert make_directory(tmp_path / "a" / "b")
        assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700

    def test_that_exist_stay_as_they_are(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        assert not make_directory(tmp_path)
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755

    def test_cannot_take_the_place_of_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "a").touch()
        for place in (tmp_path / "a", tmp_path / "a" / "b"):
            with pytest.raises(PinfoldError, match="cannot make the directory"):
                make_directory(place)
