"""A workspace is packed whole; what cannot be, or changes meanwhile, is named and never cut in silence."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from services.archives import Omission
from services.archives.working import Gauge
from services.archives.writing.workspace import Packed, pack
from tests.services.archives.workspaces import described
from tests.services.home.processes import ROOT

MEGABYTE = 1024 * 1024


class Meddler(Gauge):
    """Does something to the workspace once a number of bytes were packed."""

    def __init__(self, after: int, what: Callable[[], object]) -> None:
        super().__init__()
        self._after = after
        self._what: Callable[[], object] | None = what

    def advance(self, items: int = 0, size: int = 0) -> None:
        super().advance(items, size)
        if self._what is not None and self.doing == "packing the workspace" and self.size >= self._after:
            what, self._what = self._what, None
            what()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    return place


def omitted(packed: Packed) -> dict[str, Omission]:
    return {one.name: one.reason for one in packed.omitted}


def untar(out: Path, name: str) -> Path:
    """Unpack as an operator would, without Pinfold."""
    target = out / "unpacked"
    target.mkdir()
    subprocess.run(["tar", "xf", str(out / name), "-C", str(target)], check=True, capture_output=True)
    return target / "workspace"


@pytest.mark.parametrize("name", ["workspace.tar.gz", "workspace.tar.zst"])
def test_tar_unpacks_what_was_packed(workspace: Path, out: Path, name: str) -> None:
    if name.endswith(".zst") and not shutil.which("zstd"):
        pytest.skip("tar needs the program zstd for it")
    assert pack(out, name, workspace, Gauge()).omitted == ()
    assert described(untar(out, name)) == described(workspace)


def test_odd_names_are_kept(workspace: Path, out: Path) -> None:
    names = [b"\xff\xfe", b"n" * 255, "\u00e9\u0301 \U0001f980".encode(), b" ", b"-rf", b"new\nline", b"\x1b[2J", b"*"]
    for number, name in enumerate(names):
        with open(os.path.join(os.fsencode(workspace), name), "wb") as file:  # noqa: PTH118, PTH123 - no text
            file.write(b"%d" % number)
    deep = workspace.joinpath(*["d" * 200] * 15)
    deep.mkdir(parents=True)
    (deep / "deepest").write_text("x")
    (workspace / "dangling").symlink_to(os.fsdecode(b"to/\xfe"))
    assert pack(out, "workspace.tar.gz", workspace, Gauge()).omitted == ()
    assert described(untar(out, "workspace.tar.gz")) == described(workspace)


def test_modes_and_times_are_kept(workspace: Path, out: Path) -> None:
    (workspace / "src" / "app.py").chmod(0o4751)
    (workspace / "src").chmod(0o2755)
    os.utime(workspace / "notes.md", ns=(1, -1_500_000_001))
    os.utime(workspace / "src", ns=(1, 1_234_567_890_123_456_789))
    pack(out, "workspace.tar.gz", workspace, Gauge())
    assert described(untar(out, "workspace.tar.gz")) == described(workspace)


def test_what_is_no_file_is_named_and_left_out(workspace: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(workspace / "pipe")
    monkeypatch.chdir(workspace)  # the path of a socket is at most 108 bytes long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        packed = pack(out, "workspace.tar.gz", workspace, Gauge())
    assert omitted(packed) == {"pipe": Omission.FIFO, "socket": Omission.SOCKET}
    assert all(one.reason.by_nature for one in packed.omitted)


def test_the_same_workspace_gives_the_same_bytes(workspace: Path, out: Path) -> None:
    first = pack(out, "workspace.tar.gz", workspace, Gauge())
    second = pack(out, "workspace.tar.gz", workspace, Gauge())
    assert (first.tar.sha256, first.list.sha256) == (second.tar.sha256, second.list.sha256)


def test_a_workspace_that_is_not_there_has_nothing_in_it(tmp_path: Path, out: Path) -> None:
    packed = pack(out, "workspace.tar.gz", tmp_path / "gone", Gauge())
    assert (packed.items, packed.omitted) == (0, ())


def test_holes_take_no_space_in_the_tar_and_none_when_unpacked(workspace: Path, out: Path) -> None:
    with (workspace / "disk.img").open("wb") as file:
        for at in (0, 20 * MEGABYTE, 90 * MEGABYTE):
            file.seek(at)
            file.write(b"data")
        file.truncate(100 * MEGABYTE)
    (workspace / "empty.img").touch()
    os.truncate(workspace / "empty.img", 30 * MEGABYTE)
    packed = pack(out, "workspace.tar.gz", workspace, Gauge())
    assert packed.tar.size < MEGABYTE
    unpacked = untar(out, "workspace.tar.gz")
    assert described(unpacked) == described(workspace)
    assert (unpacked / "disk.img").stat().st_blocks * 512 < MEGABYTE


def pipe_instead(place: Path) -> None:
    (place / "z").unlink()
    os.mkfifo(place / "z")


def link_instead(place: Path) -> None:
    shutil.rmtree(place / "zz")
    (place / "zz").symlink_to("/etc")


CHANGES: dict[str, tuple[Callable[[Path], object], dict[str, Omission]]] = {
    "a file vanishes before its turn": (lambda place: (place / "z").unlink(), {"z": Omission.VANISHED}),
    "a folder vanishes before its turn": (
        lambda place: shutil.rmtree(place / "zz"),
        {"zz": Omission.VANISHED},
    ),
    "a file vanishes after it was packed": (lambda place: (place / "a").unlink(), {"a": Omission.VANISHED}),
    "a file is changed after it was packed": (
        lambda place: (place / "a").write_text("changed"),
        {"a": Omission.CHANGED},
    ),
    "a file changes its mode after it was packed": (
        lambda place: (place / "a").chmod(0o777),
        {"a": Omission.CHANGED},
    ),
    "the file at hand is cut": (
        lambda place: os.truncate(place / "big", 2 * MEGABYTE),
        {"big": Omission.CHANGED},
    ),
    "the file at hand grows": (
        lambda place: os.truncate(place / "big", 5 * MEGABYTE),
        {"big": Omission.CHANGED},
    ),
    "a file appears": (lambda place: (place / "new").touch(), {"new": Omission.APPEARED}),
    "a file is replaced by a pipe": (
        pipe_instead,
        {"z": Omission.FIFO},
    ),
    "a folder is replaced by a link": (
        link_instead,
        {},
    ),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_meanwhile_is_told(
    tmp_path: Path, out: Path, change: Callable[[Path], object], expected: dict[str, Omission]
) -> None:
    place = tmp_path / "changing"
    (place / "zz").mkdir(parents=True)
    (place / "a").write_text("a")
    (place / "big").write_bytes(os.urandom(4 * MEGABYTE))
    (place / "z").write_text("z")
    (place / "zz" / "inner").write_text("inner")
    found = omitted(pack(out, "workspace.tar.gz", place, Meddler(MEGABYTE, lambda: change(place))))
    own = found.pop(".", None)  # the workspace, whose list of names changed
    assert found == expected
    assert found or own is Omission.CHANGED
    subprocess.run(["tar", "tf", str(out / "workspace.tar.gz")], check=True, capture_output=True)


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that anybody may enter."""
    place = Path(tempfile.mkdtemp(prefix="pinfold-test-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def test_what_is_unreadable_is_named(open_place: Path) -> None:
    place, out = open_place / "workspace", open_place / "out"
    (place / "closed").mkdir(parents=True)
    (place / "secret").write_text("secret")
    (place / "fine").write_text("fine")
    out.mkdir(mode=0o777)
    out.chmod(0o777)
    (place / "secret").chmod(0)
    (place / "closed").chmod(0)
    command = [sys.executable, "-m", "tests.services.archives.unprivileged", str(place), str(out)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, timeout=60)
    assert json.loads(found.stdout) == [["closed", "UNREADABLE"], ["secret", "UNREADABLE"]]
