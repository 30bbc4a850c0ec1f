"""Verifying names everything that is not as it was sealed, and remembers what it found and when."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from services.activity import ActivityLog
from services.archives import Archives, FindingKind, Verification, result_of
from services.errors import ArchiveNotFound
from services.home import Home
from tests.services.archives.conftest import Clock, Kept
from tests.services.archives.foreign import NAME, make_foreign


def findings(verification: Verification) -> list[tuple[FindingKind, str]]:
    return [(finding.kind, finding.name) for finding in verification.findings]


def append(file: Path, data: bytes) -> None:
    file.write_bytes(file.read_bytes() + data)


def flip(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(bytes((data[0] ^ 1,)) + data[1:])


def link_instead(place: Path) -> None:
    (place / "agent.toml").rename(place / "a")
    (place / "agent.toml").symlink_to("a")


def pipe_instead(place: Path) -> None:
    (place / "agent.toml").unlink()
    os.mkfifo(place / "agent.toml")


HARM: dict[str, tuple[Callable[[Path], object], list[tuple[FindingKind, str]]]] = {
    "nothing": (lambda place: None, []),
    "a flipped bit": (lambda place: flip(place / "memory.jsonl"), [(FindingKind.DIFFERS, "memory.jsonl")]),
    "a byte more": (lambda place: append(place / "agent.toml", b"\n"), [(FindingKind.DIFFERS, "agent.toml")]),
    "a file gone": (lambda place: (place / "agent.toml").unlink(), [(FindingKind.MISSING, "agent.toml")]),
    "a file more": (lambda place: (place / "sneaked").touch(), [(FindingKind.EXTRA, "sneaked")]),
    "a folder with a file more": (
        lambda place: make_foreign(place / "sessions", {"y": b""}, "x"),
        [(FindingKind.EXTRA, f"sessions/x/{name}") for name in ("checksums.sha256", "manifest.toml", "y")],
    ),
    "a file with an odd name": (lambda place: (place / "\x1b[2J").touch(), [(FindingKind.EXTRA, "\x1b[2J")]),
    "a link in a file's place": (
        link_instead,
        [(FindingKind.EXTRA, "a"), (FindingKind.UNREADABLE, "agent.toml")],
    ),
    "a pipe in a file's place": (
        pipe_instead,
        [(FindingKind.UNREADABLE, "agent.toml")],
    ),
    "another manifest": (
        lambda place: append(place / "manifest.toml", b"# more\n"),
        [(FindingKind.DIFFERS, "manifest.toml")],
    ),
    "no manifest": (
        lambda place: (place / "manifest.toml").unlink(),
        [(FindingKind.MISSING, "manifest.toml")],
    ),
    "another list of checksums": (
        lambda place: append(place / "checksums.sha256", b"\n"),
        [(FindingKind.DIFFERS, "checksums.sha256")],
    ),
    "no list of checksums": (
        lambda place: (place / "checksums.sha256").unlink(),
        [(FindingKind.MISSING, "checksums.sha256")],
    ),
}


@pytest.mark.parametrize(("harm", "expected"), HARM.values(), ids=HARM)
async def test_what_was_done_to_an_archive_is_named(
    archives: Archives, kept: Kept, harm: Callable[[Path], object], expected: list[tuple[FindingKind, str]]
) -> None:
    archive = await kept()
    harm(archive.path)
    found = findings(await result_of(archives.verify(archive.id)))
    named = [one for one in found if one in expected]
    assert named == expected
    if not any(name in ("manifest.toml", "checksums.sha256") for _, name in expected):
        assert found == expected
    assert (await archives.show(archive.id)).intact is (not expected)


async def test_the_result_is_kept_with_its_time(
    archives: Archives, kept: Kept, clock: Clock, activity: ActivityLog
) -> None:
    archive = await kept()
    assert (archive.verified_at, archive.intact) == (None, None)
    clock.forward(60)
    verification = await result_of(archives.verify(archive.id))
    assert verification.size == archive.size
    assert verification.files == sum(1 for path in archive.path.rglob("*") if path.is_file())
    found = await archives.show(archive.id)
    assert (found.verified_at, found.intact) == (clock.now, True)
    flip(archive.path / "memory.jsonl")
    await result_of(archives.verify(archive.id))
    assert [(entry.verb, entry.agent, entry.outcome) for entry in await activity.recent()] == [
        ("archive.verify", "bot", "done"),
        ("archive.verify", "bot", "failed"),
    ]


async def test_nothing_vouches_for_an_archive_from_elsewhere(archives: Archives, home: Home) -> None:
    make_foreign(home.archives_dir, {"agent.toml": b"x"})
    verification = await result_of(archives.verify(NAME))
    assert findings(verification) == [(FindingKind.UNPROVEN, "manifest.toml")]
    assert not verification.intact


async def test_what_is_not_there_cannot_be_verified(archives: Archives) -> None:
    with pytest.raises(ArchiveNotFound):
        await result_of(archives.verify(NAME))
