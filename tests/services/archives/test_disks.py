"""A disk that is full or read-only: nothing counts as kept, and nothing is left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.activity import ActivityLog, Events
from services.archives import ArchiveDraft, ArchiveKind, Archives, result_of
from services.archives.layout import LEDGER
from services.errors import ArchiveError, PinfoldError
from services.home import BlockingCalls, Database, Home
from tests.services.archives.conftest import Clock, Kept
from tests.services.archives.rows import rows_of, some_rows
from tests.services.home import small_disk as disk

pytestmark = disk.needs_small_disk
DRAFT = ArchiveDraft(ArchiveKind.DELETE, "bot")


@pytest.fixture
def place(home: Home) -> Iterator[Path]:
    """The archives on a disk of two megabytes."""
    home.archives_dir.mkdir(parents=True)
    disk.mount(str(home.archives_dir))
    yield home.archives_dir
    disk.unmount(str(home.archives_dir))


@pytest.fixture
def on_small_disk(
    place: Path, home: Home, database: Database, activity: ActivityLog, calls: BlockingCalls, clock: Clock
) -> Archives:
    return Archives(home, database, activity, Events(), calls, clock)


async def test_a_full_disk_fails_the_part_and_the_rest_stays(on_small_disk: Archives, tmp_path: Path) -> None:
    writer = await on_small_disk.create(DRAFT)
    await result_of(writer.write_agent_file(b"x"))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "noise").write_bytes(os.urandom(3 * 1024**2))
    with pytest.raises(ArchiveError, match="No space left"):
        await result_of(writer.pack_workspace(workspace))
    with pytest.raises(ArchiveError, match="No space left"):
        await result_of(writer.write_memory(rows_of(some_rows(200, "x" * 20_000))))
    assert list(writer.parts) == ["agent.toml"]
    assert sorted(entry.name for entry in writer.directory.iterdir()) == [LEDGER, "agent.toml"]
    assert (await result_of(writer.write_memory(rows_of(some_rows(3))))).items == 3


async def test_a_read_only_folder_is_said_to_be_one(on_small_disk: Archives, place: Path) -> None:
    writer = await on_small_disk.create(DRAFT)
    disk.make_read_only(str(place))
    with pytest.raises(ArchiveError, match="Read-only file system"):
        await on_small_disk.create(DRAFT)
    with pytest.raises(ArchiveError, match="Read-only file system"):
        await result_of(writer.write_agent_file(b"x"))


async def test_extracting_to_a_full_disk_stops_and_leaves_no_half_file(
    archives: Archives, kept: Kept, tmp_path: Path
) -> None:
    workspace, target = tmp_path / "noise", tmp_path / "small"
    workspace.mkdir()
    (workspace / "noise").write_bytes(os.urandom(3 * 1024**2))
    opened = await archives.open((await kept(place=workspace)).id)
    target.mkdir()
    disk.mount(str(target))
    try:
        with pytest.raises(PinfoldError, match="No space left"):
            await result_of(opened.extract(target))
        assert list(target.iterdir()) == []
    finally:
        disk.unmount(str(target))
