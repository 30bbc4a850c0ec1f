"""An archive set against a living agent or against another archive."""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from services.archives.layout import WORKSPACE
from services.archives.members import Member
from services.archives.model import Omitted
from services.archives.reading.admission import Admission, admitted
from services.archives.reading.files import Folder
from services.archives.reading.model import LISTED_CHANGES, Change, FileChange, Limits, Refused, Tree
from services.archives.reading.tree import opened_tar, tar_of
from services.archives.tars.content import PIECE, content
from services.archives.working import Gauge
from services.archives.writing.files import sum_of
from services.archives.writing.walking import Found, walk

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class FileComparison:
    """What differs between two workspaces.

    Attributes:
        more: How many differ beyond those that are named.
    """

    changes: list[FileChange]
    same: int = 0
    more: int = 0

    def add(self, path: str, change: Change, before: Member | None, after: Member | None) -> None:
        """Name a difference, or count it when there are too many."""
        if len(self.changes) < LISTED_CHANGES:
            self.changes.append(FileChange(path, change, before, after))
        else:
            self.more += 1


Summed = Callable[[Member], str]
"""Finds the SHA-256 of a member's bytes."""


def compared_members(before: Mapping[str, Member], after: Iterable[tuple[Member, Summed]]) -> FileComparison:
    """Compare members by path; what is the same in all else is hashed.

    Args:
        before: The archive's, with their checksums.
        after: The other side's, each with what hashes it if need be.
    """
    found = FileComparison([])
    seen: set[str] = set()
    for member, summed in after:
        seen.add(member.path)
        old = before.get(member.path)
        if old is None:
            found.add(member.path, Change.ADDED, None, member)
        elif _looks_same(old, member) and (old.kind != "file" or old.sha256 == summed(member)):
            found.same += 1
        else:
            found.add(member.path, Change.CHANGED, old, member)
    for path, old in before.items():
        if path not in seen:
            found.add(path, Change.REMOVED, old, None)
    found.changes.sort(key=lambda change: change.path.split("/"))
    return found


def workspace_of(tree: Tree) -> dict[str, Member]:
    """The members of the workspace by path, hard links as the files they are."""
    members: dict[str, Member] = {}
    for member in tree.members:
        if member.path == WORKSPACE or not member.path.startswith(f"{WORKSPACE}/"):
            continue
        members[member.path] = _as_file(member, tree) if member.kind == "hard link" else member
    return members


def hashed(folder: Folder, tree: Tree, limits: Limits, gauge: Gauge) -> Tree:
    """The tree with the checksum of each file, for an archive whose list nobody vouches for; blocks."""
    name = tar_of(folder)
    if name is None:
        return tree
    sums: dict[str, str] = {}
    gauge.begin(name)
    with opened_tar(folder, name, limits, gauge) as stream:
        if isinstance(stream, Refused):
            return tree
        for entry in admitted(stream, Admission(limits, strict=True)):
            if not isinstance(entry, Refused) and entry[1].kind == "file":
                sums[entry[1].path] = _sum(content(stream, entry[0]))
    members = tuple(_with_sum(member, sums.get(member.path, "")) for member in tree.members)
    return Tree(members, tree.refused, tree.vouched)


def living(workspace: Path, gauge: Gauge, omitted: list[Omitted]) -> Iterator[tuple[Member, Summed]]:
    """Yield what a living workspace has now; blocks.

    Args:
        workspace: The agent's.
        gauge: Told of files and bytes.
        omitted: Gets what cannot be compared.
    """
    for entry in walk(workspace):
        if isinstance(entry, Omitted):
            omitted.append(entry)
        elif entry.path:
            gauge.advance(items=1)
            yield _living(entry), lambda _, entry=entry: _sum_of(entry, gauge)  # type: ignore[misc]


def config_diff(before: bytes, after: bytes, names: tuple[str, str]) -> str:
    """Unified diff of two files; "" when they are the same."""
    if before == after:
        return ""
    old, new = (data.decode("utf-8", errors="backslashreplace").splitlines(keepends=True) for data in (before, after))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, *names)
    )


def _looks_same(old: Member, new: Member) -> bool:
    if (old.kind, old.size, old.target) != (new.kind, new.size, new.target):
        return False
    return old.kind == "link" or old.mode == new.mode


def _living(entry: Found) -> Member:
    facts = entry.facts
    path = f"{WORKSPACE}/{os.fsdecode(entry.path)}"
    mode, mtime = stat.S_IMODE(facts.st_mode), facts.st_mtime_ns
    if stat.S_ISDIR(facts.st_mode):
        return Member(path=path, kind="folder", mode=mode, mtime=mtime)
    if stat.S_ISLNK(facts.st_mode):
        try:
            target = os.fsdecode(os.readlink(entry.name, dir_fd=entry.folder))
        except OSError:  # it went; it then differs from what was kept
            target = ""
        return Member(path=path, kind="link", mode=mode, mtime=mtime, target=target)
    return Member(path=path, kind="file", size=facts.st_size, mode=mode, mtime=mtime)


def _sum_of(entry: Found, gauge: Gauge) -> str:
    try:
        descriptor = os.open(entry.name, _READ, dir_fd=entry.folder)
    except OSError:  # what cannot be read is not the same
        return ""
    try:
        return sum_of(descriptor, gauge)[0]
    except OSError:
        return ""
    finally:
        os.close(descriptor)


def _sum(pieces: Iterable[bytes | int]) -> str:
    digest, zeros = hashlib.sha256(), memoryview(bytes(PIECE))
    for piece in pieces:
        if isinstance(piece, bytes):
            digest.update(piece)
        else:
            for at in range(0, piece, PIECE):
                digest.update(zeros[: min(PIECE, piece - at)])
    return digest.hexdigest()


def _as_file(member: Member, tree: Tree) -> Member:
    source = tree.by_path.get(member.target)
    if source is None or source.kind != "file":
        return member
    return Member(
        path=member.path, kind="file", size=source.size, mode=source.mode, mtime=source.mtime, sha256=source.sha256
    )


def _with_sum(member: Member, sha256: str) -> Member:
    return Member(
        path=member.path,
        kind=member.kind,
        size=member.size,
        mode=member.mode,
        mtime=member.mtime,
        target=member.target,
        sha256=sha256 or member.sha256,
    )
