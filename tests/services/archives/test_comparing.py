"""An archive is set against a living agent or another archive: configuration, files and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.archives import Archives, Change, Comparison, LivingAgent, result_of
from services.home import Home
from tests.services.archives.conftest import Clock, Kept
from tests.services.archives.foreign import NAME, file, link, make_foreign, tar_of


def changes(comparison: Comparison) -> dict[str, Change]:
    return {change.path: change.change for change in comparison.files}


@pytest.fixture
def living(tmp_path: Path, workspace: Path) -> LivingAgent:
    agent_file = tmp_path / "agent.toml"
    agent_file.write_bytes(b"[agent]\nenabled = true\n")
    return LivingAgent("bot", agent_file, workspace)


async def test_an_agent_that_did_not_change_is_the_same(archives: Archives, kept: Kept, living: LivingAgent) -> None:
    comparison = await result_of(archives.compare((await kept()).id, living))
    assert comparison.same
    assert comparison.same_files == 5


async def test_what_changed_since_is_named(archives: Archives, kept: Kept, living: LivingAgent) -> None:
    archive = await kept()
    place = living.workspace
    (place / "new").touch()
    (place / "src" / "app.py").write_text("print('HELLO')\n")
    (place / "src").chmod(0o700)
    (place / "link").unlink()
    (place / "link").symlink_to("elsewhere")
    (place / "notes.md").unlink()
    living.file.write_bytes(b"[agent]\nenabled = false\n")
    comparison = await result_of(archives.compare(archive.id, living))
    assert changes(comparison) == {
        "workspace/link": Change.CHANGED,
        "workspace/new": Change.ADDED,
        "workspace/notes.md": Change.REMOVED,
        "workspace/src": Change.CHANGED,
        "workspace/src/app.py": Change.CHANGED,
    }
    assert comparison.same_files == 1
    assert "-enabled = true\n+enabled = false\n" in comparison.config


async def test_two_archives_are_compared_with_their_rows(archives: Archives, kept: Kept, workspace: Path) -> None:
    before = await kept(rows=4)
    (workspace / "notes.md").write_text("# NOTES\n")
    after = await kept(rows=6)
    comparison = await result_of(archives.compare(before.id, after.id))
    assert changes(comparison) == {"workspace/notes.md": Change.CHANGED, "workspace/twin": Change.CHANGED}
    assert [(row.key, row.change, row.after) for row in comparison.rows] == [
        ("k4", Change.ADDED, "content 4"),
        ("k5", Change.ADDED, "content 5"),
    ]
    assert comparison.same_rows == 4
    back = await result_of(archives.compare(after.id, before.id))
    assert [(row.key, row.change) for row in back.rows] == [("k4", Change.REMOVED), ("k5", Change.REMOVED)]


async def test_a_foreign_archive_is_compared_by_what_its_tar_holds(
    archives: Archives, kept: Kept, home: Home, living: LivingAgent
) -> None:
    tar = tar_of([file("workspace/notes.md", b"# NOTES\n"), link("workspace/link", "/etc")])
    make_foreign(home.archives_dir, {"workspace.tar.gz": tar, "agent.toml": living.file.read_bytes()})
    comparison = await result_of(archives.compare(NAME, living))
    assert changes(comparison)["workspace/notes.md"] is Change.CHANGED
    assert [one.name for one in comparison.refused] == ["workspace/link"]
    assert not comparison.same


async def test_an_agent_without_a_file_and_a_workspace_has_lost_all(
    archives: Archives, kept: Kept, tmp_path: Path, clock: Clock
) -> None:
    nobody = LivingAgent("bot", tmp_path / "none.toml", tmp_path / "none")
    comparison = await result_of(archives.compare((await kept()).id, nobody))
    assert set(changes(comparison).values()) == {Change.REMOVED}
    assert "-enabled = true" in comparison.config
