"""A workspace packed into a tar, and checked against the disk and against itself afterwards."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from services.archives.layout import WORKSPACE
from services.archives.members import Member, MemberKind, shown
from services.archives.model import Omission, Omitted
from services.archives.tars.attributes import attributes_of
from services.archives.tars.compression import CompressedFile
from services.archives.tars.making import FILE, FOLDER, HARD_LINK, LINK, Facts, header_bytes
from services.archives.tars.sparse import Extents, extents_of
from services.archives.working import Gauge
from services.archives.writing.files import BLOCK
from services.archives.writing.walking import Found, omitted, walk

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

SMALL = 1024 * 1024
"""Bytes up to which a file is read before its header is written, so that it is kept as it was at one moment."""

_TRIES = 3
_BLOCK = 512
_END = 20 * _BLOCK
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ZEROS = memoryview(bytes(BLOCK))
_KINDS = {stat.S_IFDIR: FOLDER, stat.S_IFLNK: LINK, stat.S_IFREG: FILE}


class Packing:
    """Writes the members of one workspace; blocks, so it runs in a thread.

    Args:
        tar: Where they go.
        gauge: Told of files and bytes.

    Attributes:
        omitted: What was left out or may differ.
    """

    def __init__(self, tar: CompressedFile, gauge: Gauge) -> None:
        self.omitted: list[Omitted] = []
        self._tar = tar
        self._gauge = gauge
        self._linked: dict[tuple[int, int], str] = {}

    def pack(self, workspace: Path) -> Iterator[Member]:
        """Write everything in a workspace, and yield each member once it is written.

        Raises:
            GivenUp: Nobody waits any more.
            OSError: The workspace cannot be read at all, or the archive cannot be written.
        """
        for entry in walk(workspace):
            if isinstance(entry, Omitted):
                self.omitted.append(entry)
                continue
            member = self._packed(entry)
            if isinstance(member, Omitted):
                self.omitted.append(member)
            else:
                self._gauge.advance(items=1)
                yield member
        self._tar.write(bytes(2 * _BLOCK))
        self._tar.write(bytes(-self._tar.size % _END))

    def _packed(self, entry: Found) -> Member | Omitted:
        kind = stat.S_IFMT(entry.facts.st_mode)
        if kind == stat.S_IFDIR:
            place = f"/proc/self/fd/{entry.folder}/{os.fsdecode(entry.name)}"
            self._header(entry, entry.facts, headers=self._attributes(entry, place))
            return _member(entry, entry.facts, "folder")
        if kind == stat.S_IFLNK:
            return self._link(entry)
        identity = (entry.facts.st_dev, entry.facts.st_ino)
        if (first := self._linked.get(identity)) is not None:
            self._header(entry, entry.facts, type=HARD_LINK, target=first)
            return _member(entry, entry.facts, "hard link", target=first)
        return self._file(entry)

    def _link(self, entry: Found) -> Member | Omitted:
        try:
            target = os.fsdecode(os.readlink(entry.name, dir_fd=entry.folder))
        except OSError as error:
            return omitted(entry.path, error)
        self._header(entry, entry.facts, target=target)
        return _member(entry, entry.facts, "link", target=target)

    def _file(self, entry: Found) -> Member | Omitted:
        try:
            descriptor = os.open(entry.name, _READ, dir_fd=entry.folder)
        except OSError as error:
            return omitted(entry.path, error)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode):
                return Omitted(shown(entry.path), Omission.CHANGED, "something else was put in its place")
            try:
                extents = extents_of(descriptor, facts)
            except OSError as error:
                return omitted(entry.path, error)
            if facts.st_size > SMALL or extents is not None:
                member: Member | Omitted = self._large(entry, descriptor, facts, extents)
            else:
                member = self._small(entry, descriptor)
        finally:
            os.close(descriptor)
        if isinstance(member, Member) and facts.st_nlink > 1:
            self._linked[(facts.st_dev, facts.st_ino)] = member.path
        return member

    def _small(self, entry: Found, descriptor: int) -> Member | Omitted:
        for _ in range(_TRIES):
            try:
                before = os.fstat(descriptor)
                data = _all_of(descriptor, before.st_size)
                if _same(before, os.fstat(descriptor)) and len(data) == before.st_size:
                    break
            except OSError as error:
                return omitted(entry.path, error)
        else:
            self.omitted.append(Omitted(shown(entry.path), Omission.CHANGED))
        self._header(entry, before, size=len(data), headers=self._attributes(entry, descriptor))
        self._tar.write(data + bytes(-len(data) % _BLOCK))
        self._gauge.advance(size=len(data))
        return _member(entry, before, "file", size=len(data), sha256=hashlib.sha256(data).hexdigest())

    def _large(self, entry: Found, descriptor: int, facts: os.stat_result, extents: Extents | None) -> Member:
        """The header has the size, so that a file that shrinks meanwhile is filled up, and told of."""
        digest = hashlib.sha256()
        spread = extents or Extents.whole(facts.st_size)
        table = extents.table() if extents else b""
        stored = len(table) + spread.stored
        sparse = extents.headers(_path(entry)) if extents else {}
        self._header(entry, facts, size=stored, headers=sparse | self._attributes(entry, descriptor))
        self._tar.write(table)
        short, detail, at = 0, "", 0
        for start, length in spread.pieces(BLOCK):
            self._skip(digest, start - at)
            data = b""
            if not detail:
                try:
                    data = os.pread(descriptor, length, start)
                except OSError as error:
                    detail = error.strerror or str(error)
            short += length - len(data)
            data += bytes(length - len(data))
            digest.update(data)
            self._tar.write(data)
            self._gauge.advance(size=length)
            at = start + length
        self._skip(digest, facts.st_size - at)
        self._tar.write(bytes(-stored % _BLOCK))
        if detail:
            self.omitted.append(Omitted(shown(entry.path), Omission.UNREADABLE, f"{short:,} bytes are zeros: {detail}"))
        elif short or not _same(facts, os.fstat(descriptor)):
            self.omitted.append(
                Omitted(shown(entry.path), Omission.CHANGED, f"{short:,} bytes are zeros" if short else "")
            )
        return _member(entry, facts, "file", size=facts.st_size, sha256=digest.hexdigest())

    def _skip(self, digest: Hash, hole: int) -> None:
        while hole > 0:
            length = min(hole, BLOCK)
            digest.update(_ZEROS[:length])
            self._gauge.advance(size=length)
            hole -= length

    def _attributes(self, entry: Found, place: int | str) -> dict[str, str]:
        found = attributes_of(place)
        if found.left_out:
            self.omitted.append(Omitted(_named(entry.path), Omission.ATTRIBUTE, ", ".join(found.left_out)))
        return found.records

    def _header(
        self,
        entry: Found,
        facts: os.stat_result,
        *,
        size: int = 0,
        type: bytes = b"",
        target: str = "",
        headers: dict[str, str] | None = None,
    ) -> None:
        self._tar.write(
            header_bytes(
                Facts(
                    os.fsencode(_path(entry)),
                    type or _KINDS[stat.S_IFMT(facts.st_mode)],
                    stat.S_IMODE(facts.st_mode),
                    facts.st_uid,
                    facts.st_gid,
                    facts.st_mtime_ns,
                    size,
                    os.fsencode(target),
                    headers or {},
                )
            )
        )


def changes_since(workspace: Path, packed: Iterator[Member]) -> Iterator[Omitted]:
    """Walk a workspace again, and yield what is not as it was when it was packed.

    Args:
        workspace: As it is now.
        packed: The members in the order they were packed in.
    """
    then = next(packed, None)
    for entry in walk(workspace):
        if isinstance(entry, Omitted):
            continue
        now = entry.path.split(b"/") if entry.path else []
        while then is not None and _order(then) < now:
            yield Omitted(_named(_below(then)), Omission.VANISHED, "after it was packed")
            then = next(packed, None)
        if then is None or _order(then) != now:
            yield Omitted(_named(entry.path), Omission.APPEARED)
            continue
        if not _still(then, entry):
            yield Omitted(_named(entry.path), Omission.CHANGED, "after it was packed")
        then = next(packed, None)
    while then is not None:
        yield Omitted(_named(_below(then)), Omission.VANISHED, "after it was packed")
        then = next(packed, None)


def _named(path: bytes) -> str:
    return shown(path) or "."


def _still(member: Member, entry: Found) -> bool:
    facts = entry.facts
    if member.mode != stat.S_IMODE(facts.st_mode) or member.mtime != facts.st_mtime_ns:
        return False
    kinds = {"folder": stat.S_IFDIR, "link": stat.S_IFLNK}
    if stat.S_IFMT(facts.st_mode) != kinds.get(member.kind, stat.S_IFREG):
        return False
    return member.kind != "file" or member.size == facts.st_size


def _below(member: Member) -> bytes:
    return os.fsencode(member.path)[len(WORKSPACE) + 1 :]


def _order(member: Member) -> list[bytes]:
    path = _below(member)
    return path.split(b"/") if path else []


def _path(entry: Found) -> str:
    return f"{WORKSPACE}/{os.fsdecode(entry.path)}" if entry.path else WORKSPACE


def _member(
    entry: Found, facts: os.stat_result, kind: MemberKind, *, size: int = 0, target: str = "", sha256: str = ""
) -> Member:
    mode = stat.S_IMODE(facts.st_mode)
    return Member(
        path=_path(entry), kind=kind, size=size, mode=mode, mtime=facts.st_mtime_ns, target=target, sha256=sha256
    )


def _all_of(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    pieces, left = [], min(size, SMALL) + 1
    while left and (piece := os.read(descriptor, left)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _same(before: os.stat_result, after: os.stat_result) -> bool:
    return (before.st_size, before.st_mtime_ns, before.st_ctime_ns) == (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    )
