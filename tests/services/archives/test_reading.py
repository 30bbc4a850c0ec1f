"""What was kept can be found, looked at, and got back."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.archives import Archives, OpenArchive, Refusal, result_of
from services.errors import ArchiveNotFound
from tests.services.archives.conftest import Kept
from tests.services.archives.rows import some_rows
from tests.services.archives.workspaces import described


async def test_the_whole_workspace_comes_back_as_it_was(opened: OpenArchive, workspace: Path, tmp_path: Path) -> None:
    target = tmp_path / "back"
    extraction = await result_of(opened.extract(target))
    assert extraction.refused == ()
    assert described(target) == described(workspace)
    assert (target / "twin").stat().st_ino == (target / "notes.md").stat().st_ino


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["workspace/src"], ["src", "src/app.py"]),
        (["workspace/notes.md"], ["notes.md"]),
        (["workspace/twin"], ["twin"]),
        (["workspace/link", "workspace/notes.md"], ["link", "notes.md"]),
        (["memory.jsonl"], ["memory.jsonl"]),
    ],
    ids=["a folder", "a file", "a hard link alone", "a link and a file", "a file of the archive"],
)
async def test_a_part_is_extracted_alone(
    opened: OpenArchive, tmp_path: Path, paths: list[str], found: list[str]
) -> None:
    extraction = await result_of(opened.extract(tmp_path / "back", paths))
    assert extraction.refused == ()
    assert sorted(described(tmp_path / "back")) == found


async def test_a_hard_link_alone_has_the_bytes(opened: OpenArchive, tmp_path: Path) -> None:
    await result_of(opened.extract(tmp_path / "back", ["workspace/twin"]))
    assert (tmp_path / "back" / "twin").read_text() == "# Notes\n"


async def test_what_is_not_there_is_named(opened: OpenArchive, tmp_path: Path) -> None:
    extraction = await result_of(opened.extract(tmp_path / "back", ["workspace/gone"]))
    assert [(one.name, one.reason) for one in extraction.refused] == [("workspace/gone", Refusal.MISSING)]


async def test_nothing_is_overwritten_without_being_told_to(opened: OpenArchive, tmp_path: Path) -> None:
    target = tmp_path / "back"
    target.mkdir()
    (target / "notes.md").write_text("mine")
    extraction = await result_of(opened.extract(target))
    assert [(one.name, one.reason) for one in extraction.refused] == [
        ("workspace/notes.md", Refusal.EXISTS),
    ]
    assert (target / "notes.md").read_text() == "mine"
    assert (await result_of(opened.extract(target, existing="replace"))).refused == ()
    assert (target / "notes.md").read_text() == "# Notes\n"


async def test_the_tree_is_a_folder_of_files(opened: OpenArchive) -> None:
    tree = await result_of(opened.tree())
    assert tree.vouched
    assert [member.path for member in tree.children("workspace")] == [
        "workspace/src",
        "workspace/link",
        "workspace/notes.md",
        "workspace/twin",
    ]
    assert {member.path for member in tree.children()} >= {"manifest.toml", "agent.toml", "memory.jsonl", "workspace"}


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("workspace/src/app.py", b"print('hello')\n"),
        ("workspace/twin", b"# Notes\n"),
        ("workspace/link", b"src/app.py"),
        ("agent.toml", b"[agent]\nenabled = true\n"),
    ],
)
async def test_a_member_is_previewed(opened: OpenArchive, path: str, data: bytes) -> None:
    preview = await result_of(opened.preview(path))
    assert (preview.data, preview.size, preview.whole) == (data, len(data), True)


async def test_a_preview_is_bounded(opened: OpenArchive) -> None:
    preview = await result_of(opened.preview("workspace/notes.md", limit=3))
    assert (preview.data, preview.size, preview.whole) == (b"# N", 8, False)


@pytest.mark.parametrize("path", ["workspace/gone", "../outside", "/etc/passwd", "workspace", "sessions/x/../../y"])
async def test_a_preview_of_what_is_not_there_is_refused(opened: OpenArchive, path: str) -> None:
    with pytest.raises(ArchiveNotFound):
        await result_of(opened.preview(path))


async def test_rows_come_back_as_they_were(archives: Archives, kept: Kept) -> None:
    opened = await archives.open((await kept(rows=1200)).id)
    rows = [row async for page in opened.memory() for row in page]
    assert rows == some_rows(1200)


async def test_what_was_not_kept_is_empty(opened: OpenArchive) -> None:
    assert [page async for page in opened.core_blocks()] == []
    assert [page async for page in opened.archive_entries()] == []
    assert await opened.sessions() == ()
    with opened.scopes() as file:
        assert file.read() == b""
