"""The list has every archive of disk and index, and says where they disagree."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from services.activity import ActivityLog
from services.archives import (
    ArchiveDraft,
    ArchiveKind,
    Archives,
    ArchiveState,
    Retention,
    Sealing,
    Wanted,
    result_of,
)
from services.errors import ArchiveNotFound, ArchiveRefused
from services.home import Home
from tests.services.archives.conftest import Clock, Kept
from tests.services.archives.foreign import NAME, make_foreign

DAY = 86_400.0


async def test_archives_are_listed_newest_first(archives: Archives, kept: Kept, clock: Clock) -> None:
    ids = []
    for alias in ("one", "two", "three"):
        ids.append((await kept(alias)).id)
        clock.forward(1)
    assert [archive.id for archive in await archives.list()] == ids[::-1]


async def test_nothing_is_listed_where_nothing_was_kept(archives: Archives, home: Home) -> None:
    assert await archives.list() == []
    assert not home.archives_dir.exists()


async def test_disagreements_are_shown(archives: Archives, kept: Kept, home: Home, tmp_path: Path) -> None:
    gone = await kept("gone")
    shutil.rmtree(gone.path)
    await kept("fine")
    begun = await archives.create(ArchiveDraft(ArchiveKind.RENAME, "begun"))
    make_foreign(home.archives_dir, {"agent.toml": b""})
    (home.archives_dir / "notes.txt").write_text("an operator's")
    (home.archives_dir / ".hidden").mkdir()
    (home.archives_dir / "swapped-20260101000000").symlink_to(tmp_path)
    found = {archive.alias: (archive.state, bool(archive.problem)) for archive in await archives.list()}
    assert found == {
        "gone": (ArchiveState.MISSING, True),
        "fine": (ArchiveState.SEALED, False),
        "begun": (ArchiveState.UNSEALED, True),
        "bot": (ArchiveState.UNINDEXED, True),
        "": (ArchiveState.DAMAGED, True),
        "swapped": (ArchiveState.DAMAGED, True),
    }
    with pytest.raises(ArchiveNotFound):
        await archives.open(gone.id)
    with pytest.raises(ArchiveNotFound):
        await archives.open(begun.id)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), ["new", "old"]),
        (Wanted(alias="old"), ["old"]),
        (Wanted(kind=ArchiveKind.RESTORE), []),
        (Wanted(state=ArchiveState.SEALED), ["new", "old"]),
        (Wanted(older_than=5 * DAY), ["old"]),
        (Wanted(purged=True), ["new", "old", "purged"]),
        (Wanted(state=ArchiveState.PURGED), ["purged"]),
    ],
    ids=["all", "by alias", "by kind", "by state", "by age", "with purged ones", "purged ones"],
)
async def test_a_list_is_filtered(
    archives: Archives, kept: Kept, clock: Clock, wanted: Wanted, found: list[str]
) -> None:
    await result_of(archives.purge((await kept("purged")).id, "purged"))
    clock.forward(1)
    await kept("old")
    clock.forward(6 * DAY)
    await kept("new")
    assert [archive.alias for archive in await archives.list(wanted)] == found


async def test_archives_follow_a_renamed_agent(archives: Archives, kept: Kept) -> None:
    archive = await kept("before")
    assert await archives.rename("before", "after") == 1
    assert await archives.rename("before", "after") == 0
    assert [one.id for one in await archives.list(Wanted(alias="after"))] == [archive.id]


# purging


async def test_a_purged_archive_leaves_a_tombstone(
    archives: Archives, kept: Kept, activity: ActivityLog, home: Home
) -> None:
    archive = await kept()
    await result_of(archives.purge(archive.id, "bot", actor="operator"))
    assert list(home.archives_dir.iterdir()) == []
    assert await archives.list() == []
    assert (await archives.show(archive.id)).state is ArchiveState.PURGED
    (entry,) = await activity.recent()
    assert (entry.verb, entry.agent, entry.outcome) == ("archive.purge", "bot", "done")
    assert archive.id in entry.detail
    await result_of(archives.purge(archive.id, "bot"))
    assert len(await activity.recent()) == 1


@pytest.mark.parametrize("typed", ["", "Bot", "bot ", "other"])
async def test_a_purge_needs_the_alias(archives: Archives, kept: Kept, typed: str) -> None:
    archive = await kept()
    with pytest.raises(ArchiveRefused):
        await result_of(archives.purge(archive.id, typed))
    assert archive.path.is_dir()


async def test_an_archive_that_an_operation_needs_is_not_purged(archives: Archives) -> None:
    writer = await archives.create(ArchiveDraft(ArchiveKind.DELETE, "bot"))
    with pytest.raises(ArchiveRefused):
        await result_of(archives.purge(writer.id, "bot"))
    assert (await writer.seal(Sealing())).state is ArchiveState.SEALED


async def test_a_purge_that_was_killed_is_completed(archives: Archives, kept: Kept, home: Home) -> None:
    archive = await kept()
    archive.path.rename(home.archives_dir / f".{archive.id}.purged")
    assert (await archives.show(archive.id)).state is ArchiveState.MISSING
    await result_of(archives.purge(archive.id, "bot"))
    assert list(home.archives_dir.iterdir()) == []
    assert (await archives.show(archive.id)).state is ArchiveState.PURGED


async def test_an_archive_from_elsewhere_is_purged_as_well(archives: Archives, home: Home) -> None:
    make_foreign(home.archives_dir, {"agent.toml": b""})
    await result_of(archives.purge(NAME, "bot"))
    assert list(home.archives_dir.iterdir()) == []


# retention


@pytest.mark.parametrize(
    ("retention", "going"),
    [
        (Retention(older_than=2.5 * DAY), ["a0", "a1"]),
        (Retention(older_than=99 * DAY), []),
        (Retention(total_size=0), ["a0", "a1", "a2", "a3"]),
        (Retention(total_size=10**9), []),
        (Retention(older_than=2.5 * DAY, alias="a1"), ["a1"]),
        (Retention(older_than=2.5 * DAY, total_size=10**9), ["a0", "a1"]),
    ],
    ids=["by age", "none that old", "no room", "room enough", "of one agent", "by both"],
)
async def test_what_is_kept_no_longer_is_named_and_kept(
    archives: Archives, kept: Kept, clock: Clock, retention: Retention, going: list[str]
) -> None:
    for number in range(4):
        await kept(f"a{number}")
        clock.forward(DAY)
    assert [archive.alias for archive in await archives.expired(retention)] == going
    assert len(await archives.list()) == 4


async def test_the_newest_are_kept_when_room_is_short(archives: Archives, kept: Kept, clock: Clock) -> None:
    sizes = []
    for number in range(4):
        sizes.append((await kept(f"a{number}")).size)
        clock.forward(1)
    going = await archives.expired(Retention(total_size=sizes[3] + sizes[2]))
    assert [archive.alias for archive in going] == ["a0", "a1"]


async def test_a_retention_that_says_nothing_is_refused(archives: Archives) -> None:
    with pytest.raises(ArchiveRefused):
        await archives.expired(Retention())
