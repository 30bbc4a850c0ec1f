"""A drop box takes files and shows none; no link in it, whoever put it there, leads a write elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from services.errors import InputRefused, MemoryRefused
from services.sandbox.tools.serving.offered.drop_box import parts_of, write_into
from tests.services.sandbox.tools.desk import Desk, DeskWorld


@pytest.fixture
def desk_world(desk_world: DeskWorld) -> DeskWorld:
    desk_world.agent(profile="free", rest='[workspace.access]\nresearcher = "write_only"')
    desk_world.agent("researcher", profile="free")
    return desk_world


@pytest.fixture
def box(tmp_path: Path) -> Path:
    box = tmp_path / "box"
    box.mkdir()
    return box


async def write(desk: Desk, path: str, content: str = "x", agent: str = "researcher") -> tuple[bool, str]:
    granted: dict[str, Any] = {"drop_boxes": ("researcher",)}
    answered = await desk.call("file_write", {"agent": agent, "path": path, "content": content}, **granted)
    return answered.failed, answered.text


async def test_a_file_is_written_whole_with_the_folders_above_it(desk: Desk) -> None:
    box = desk.pinfold.home.default_workspace("researcher")
    assert await write(desk, "in/from worker/note.txt", "für dich") == (False, "Wrote 9 bytes.")
    assert (box / "in/from worker/note.txt").read_text() == "für dich"
    assert await write(desk, "in/from worker/note.txt", "new") == (False, "Replaced 3 bytes.")
    assert sorted(path.name for path in (box / "in/from worker").iterdir()) == ["note.txt"]


async def test_only_drop_boxes_that_both_token_and_file_name_are_written(desk: Desk) -> None:
    assert await write(desk, "a", agent="worker") == (True, "this is no drop box of yours. Yours: researcher.")
    answered = await desk.call("file_write", {"agent": "researcher", "path": "a", "content": "x"})
    assert answered.text == "file_write is out of reach: the session's token does not grant it"


async def test_a_box_taken_from_the_agents_file_is_written_no_more(desk_world: DeskWorld, desk: Desk) -> None:
    desk_world.agent(profile="confined")
    desk_world.agent(profile="free", rest="[permissions]\nlevel = 'supervised'\nauto_approve = ['*']")
    await desk.pinfold.agents.load()
    failed, text = await write(desk, "a")
    assert failed
    assert "the file was not written" in text
    assert not (desk.pinfold.home.default_workspace("researcher") / "a").exists()


@pytest.mark.parametrize("path", ["", "/etc/passwd", "..", "a/../../b", "../worker/x", "a\0b", "a/"], ids=repr)
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(InputRefused, match="leads to no file of the drop box"):
        parts_of(path)


@pytest.mark.parametrize("inside", [False, True], ids=["the file", "a folder above"])
def test_a_link_is_not_followed(box: Path, tmp_path: Path, inside: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (box / "link").symlink_to(outside if inside else outside / "kept")
    with pytest.raises(MemoryRefused, match="the file was not written"):
        write_into(box, ("link", "kept") if inside else ("link",), b"gone")
    assert (outside / "kept").read_text() == "kept"
    assert [path.name for path in outside.iterdir()] == ["kept"]


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_not_replaced(box: Path, kind: str) -> None:
    (box / "there").mkdir() if kind == "directory" else os.mkfifo(box / "there")
    with pytest.raises(MemoryRefused, match="something else than a file is there"):
        write_into(box, ("there",), b"x")
    assert [path.name for path in box.iterdir()] == ["there"]


def test_a_name_that_no_disk_takes_is_an_answer(box: Path) -> None:
    with pytest.raises(MemoryRefused, match="name too long"):
        write_into(box, ("n" * 300,), b"x")
    assert list(box.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files away")
def test_what_is_written_belongs_to_whoever_owns_the_box(box: Path) -> None:
    os.chown(box, 1234, 1235)
    write_into(box, ("in", "note"), b"x")
    for path in (box / "in", box / "in" / "note"):
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)
