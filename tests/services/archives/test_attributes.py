"""Extended attributes and access control lists: kept with their file, and set again where that gives nobody rights."""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from services.archives import Archives, OpenArchive, result_of
from services.archives.working import Gauge
from services.archives.writing.workspace import pack
from services.home import Home
from tests.services.archives import foreign
from tests.services.archives.conftest import Kept

OWN = {"user.comment": b"from the printer", "user.checksum": b"\x00\xff\n=\xfe", "user.empty": b""}
ACCESS = "system.posix_acl_access"


@pytest.fixture
def attributed(workspace: Path) -> Path:
    """A workspace whose folders, small, large and sparse files have attributes; skips where a disk has none."""
    (workspace / "large.bin").write_bytes(os.urandom(1_500_000))
    with (workspace / "sparse").open("wb") as file:
        file.write(b"begin")
        file.truncate(3_000_000)
    for path in (workspace / "notes.md", workspace / "src", workspace / "large.bin", workspace / "sparse"):
        for name, value in reversed(OWN.items()):
            try:
                os.setxattr(path, name, value)
            except OSError as error:
                if error.errno != errno.ENOTSUP:
                    raise
                pytest.skip(f"the file system of {path} has no extended attributes")
    return workspace


def attributes(path: Path) -> dict[str, bytes]:
    """What a file has, but for what its machine puts on every file."""
    names = [name for name in os.listxattr(path) if not name.startswith("security.")]
    return {name: os.getxattr(path, name) for name in names}


def of_all(workspace: Path) -> dict[str, dict[str, bytes]]:
    """What everything in a workspace has; a link has nothing."""
    return {str(path.relative_to(workspace)): attributes(path) for path in workspace.rglob("*")}


def access_list(user: int) -> bytes:
    """A list that lets one user read and write, as the kernel has it."""
    nobody = 2**32 - 1
    entries = ((1, 6, nobody), (2, 6, user), (4, 4, nobody), (0x10, 6, nobody), (0x20, 4, nobody))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


async def extracted(archive: OpenArchive, target: Path) -> dict[str, str]:
    """Unpack an archive, and return what was refused and why."""
    done = await result_of(archive.extract(target))
    return {one.name: f"{one.reason.value}: {one.detail}" for one in done.refused}


async def test_they_come_back_with_their_files(archives: Archives, kept: Kept, attributed: Path, tmp_path: Path):
    archive = await archives.open((await kept()).id)
    assert archive.manifest.left_out == ()
    assert await extracted(archive, tmp_path / "back") == {}
    assert of_all(tmp_path / "back") == of_all(attributed)
    assert of_all(tmp_path / "back")["twin"] == OWN


async def test_access_control_lists_come_back(archives: Archives, kept: Kept, attributed: Path, tmp_path: Path):
    try:
        os.setxattr(attributed / "notes.md", ACCESS, access_list(12345))
    except OSError:
        pytest.skip("the file system has no access control lists")
    archive = await archives.open((await kept()).id)
    assert await extracted(archive, tmp_path / "back") == {}
    back = tmp_path / "back" / "notes.md"
    assert os.getxattr(back, ACCESS) == access_list(12345)
    assert back.stat().st_mode == (attributed / "notes.md").stat().st_mode


def test_gnu_tar_reads_them(attributed: Path, tmp_path: Path):
    place = tmp_path / "packed"
    place.mkdir()
    pack(place, "workspace.tar.gz", attributed, Gauge())
    subprocess.run(["tar", "--xattrs", "-xf", "workspace.tar.gz"], cwd=place, check=True)
    assert of_all(place / "workspace") == of_all(attributed)


@pytest.fixture
def by_gnu_tar(attributed: Path) -> bytes:
    """The workspace as GNU tar packs it."""
    command = ["tar", "--xattrs", "--format=posix", "-cz", "-C", str(attributed.parent), attributed.name]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


async def test_those_that_gnu_tar_wrote_are_read(
    archives: Archives, home: Home, attributed: Path, by_gnu_tar: bytes, tmp_path: Path
):
    foreign.make_foreign(home.archives_dir, {"workspace.tar.gz": by_gnu_tar})
    assert await extracted(await archives.open(foreign.NAME), tmp_path / "back") == {}
    assert of_all(tmp_path / "back") == of_all(attributed)


def test_the_same_attributes_make_the_same_tar(attributed: Path, tmp_path: Path):
    sums = []
    for number in range(2):
        place = tmp_path / f"packed{number}"
        place.mkdir()
        sums.append(pack(place, "workspace.tar.gz", attributed, Gauge()).tar.sha256)
        for name, value in OWN.items():  # set the other way round
            os.removexattr(attributed / "large.bin", name)
            os.setxattr(attributed / "large.bin", name, value)
    assert sums[0] == sums[1]


async def test_what_gives_rights_is_never_set_and_told_of(archives: Archives, home: Home, tmp_path: Path):
    hostile = {
        "security.capability": "\x01\x00\x00\x02\x00\x04\x00\x00" + "\x00" * 12,
        "trusted.overlay.opaque": "y",
        "system.posix_acl_access": access_list(0).decode("utf-8", "surrogateescape"),
        "user.fine": "x",
        "user.two\nlines": "x",
    }
    info = tarfile.TarInfo("workspace/tool")
    info.pax_headers = {f"SCHILY.xattr.{name}": value for name, value in hostile.items()}
    foreign.make_foreign(home.archives_dir, {"workspace.tar.gz": foreign.tar_of([(info, b"#!/bin/sh\n")])})
    refused = await extracted(await archives.open(foreign.NAME), tmp_path / "back")
    tool = tmp_path / "back" / "tool"
    assert tool.read_bytes() == b"#!/bin/sh\n"
    assert set(attributes(tool)) <= {"user.fine"}
    assert "security.capability" not in os.listxattr(tool)
    told = {name: why for name, why in refused.items() if "user.fine" not in name}
    assert set(told) == {f"workspace/tool ({name})" for name in hostile if name != "user.fine"}
    assert "it is an attribute that is not set here: it is the system's" in told.values()
    assert "nothing vouches for it" in told["workspace/tool (system.posix_acl_access)"]


async def test_where_a_disk_has_none_files_come_back_without_them_and_that_is_told(
    archives: Archives, kept: Kept, attributed: Path, tmp_path: Path, monkeypatch
):
    archive = await archives.open((await kept()).id)

    def without(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", without)
    refused = await extracted(archive, tmp_path / "back")
    assert refused["workspace/src (user.comment)"].endswith("is not set here: Operation not supported")
    assert len(refused) == 4 * len(OWN)
    assert (tmp_path / "back" / "notes.md").read_bytes() == (attributed / "notes.md").read_bytes()


async def test_those_that_are_too_large_are_left_out_and_listed_and_the_file_is_kept(
    archives: Archives, kept: Kept, workspace: Path, monkeypatch
):
    monkeypatch.setattr("services.archives.tars.attributes._MOST", 1000)
    try:
        os.setxattr(workspace / "notes.md", "user.large", b"x" * 1200)
    except OSError:
        pytest.skip("the file system has no extended attributes")
    archive = await archives.open((await kept()).id)
    (left,) = archive.manifest.left_out
    assert (left.name, left.reason, left.detail) == ("notes.md", "has attributes that are not kept", "user.large")
