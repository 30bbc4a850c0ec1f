"""Members written out of an archive, below one directory and nowhere else."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from services.archives.layout import WORKSPACE
from services.archives.members import Member, shown
from services.archives.reading.admission import Admission, admitted
from services.archives.reading.files import Folder
from services.archives.reading.model import Extraction, Limits, Refusal, Refused, Tree
from services.archives.reading.placing import InTheWay, Marks, NotAFolder, Target, is_fatal
from services.archives.reading.tree import opened_tar, tar_of
from services.archives.tars.attributes import LISTS, is_kept
from services.archives.tars.content import PIECE, content
from services.archives.tars.decompression import Damaged, TarBytes, TooMuch
from services.archives.tars.headers import Header
from services.archives.working import Gauge
from services.errors import ArchiveRefused

_BELOW = f"{WORKSPACE}/"


class _Differs(Exception):
    """The bytes are not those that were packed."""


@dataclass
class Extracting:
    """Writes chosen members of one archive; blocks, so it runs in a thread.

    Args:
        folder: The archive's.
        tree: Its members.
        limits: When it is taken for a bomb.
        strict: See `OpenArchive.extract`.
        gauge: Told of members and bytes.
    """

    folder: Folder
    tree: Tree
    limits: Limits
    strict: bool
    gauge: Gauge
    refused: list[Refused] = field(default_factory=list)
    written: int = 0
    size: int = 0
    _links: list[tuple[str, Header]] = field(default_factory=list)
    _borrowers: set[str] = field(default_factory=set)

    def extract(self, directory: Path, paths: Sequence[str], *, replace: bool) -> Extraction:
        """Write members below a directory.

        Raises:
            ArchiveRefused: They do not fit on the disk.
            GivenUp: Nobody waits any more; what was written stays, each file whole.
            OSError: The disk refuses.
        """
        chosen = {member.path: member for member in self.tree.members if _is_chosen(member.path, paths)}
        self._name_missing(paths)
        self._check_room(directory, chosen)
        with Target(directory, replace=replace) as target:
            self._copy_files(target, [member for path, member in chosen.items() if not _in_workspace(path)])
            lent = _lent(chosen, self.tree)
            self._borrowers = {path for borrowers in lent.values() for path in borrowers}
            self._unpack(target, paths, lent)
            target.finish()
            for path, name, why in target.unset:
                self._refuse_attribute(_BELOW + path, name, why)
        return Extraction(directory, self.written, self.size, tuple(self.refused))

    def _name_missing(self, paths: Sequence[str]) -> None:
        for path in paths:
            if path not in self.tree.by_path:
                self.refused.append(Refused(shown(path), Refusal.MISSING))

    def _check_room(self, directory: Path, chosen: Mapping[str, Member]) -> None:
        wanted = sum(member.size for member in chosen.values())
        place = next(folder for folder in (directory, *directory.parents) if folder.is_dir())
        facts = os.statvfs(place)
        free = facts.f_bavail * facts.f_frsize
        self.gauge.begin("extracting", total_items=len(chosen), total_size=wanted)
        if wanted > self.limits.total_size:
            raise ArchiveRefused("cannot extract so much", why=f"it says it has {wanted:,} bytes")
        if wanted > free and not self.tree.vouched:
            raise ArchiveRefused("cannot extract it", why=f"it says it has {wanted:,} bytes, {free:,} are free")

    def _copy_files(self, target: Target, members: Iterable[Member]) -> None:
        for member in members:
            if member.kind != "file":
                continue
            marks = Marks(0o600, member.mtime, None)
            with self._refusing(member.path):
                descriptor = self.folder.descriptor_of(member.path)
                with os.fdopen(descriptor, "rb") as file:
                    target.file(member.path, self._checked(_pieces(file.fileno()), member), member.size, marks)
                self._count(member.size)

    def _unpack(self, target: Target, paths: Sequence[str], lent: Mapping[str, list[str]]) -> None:
        name = tar_of(self.folder)
        if name is None or (paths and not any(_in_workspace(path) for path in paths)):
            return
        total = self.gauge.total_size
        with opened_tar(self.folder, name, self.limits, Gauge()) as stream:
            self.gauge.total_size = total
            if isinstance(stream, Refused):
                self.refused.append(stream)
                return
            for entry in admitted(stream, Admission(self.limits, strict=self.strict), self._go_on):
                if isinstance(entry, Refused):
                    self.refused.append(entry)
                    continue
                header, member = entry
                if _is_chosen(member.path, paths):
                    self._place(target, stream, header, member)
                elif borrowers := lent.get(member.path):
                    self._lend(target, stream, header, member, borrowers)
            for path, header in self._links:  # last, so that no file is ever written through one
                with self._refusing(path):
                    target.link(path.removeprefix(_BELOW), os.fsdecode(header.target), self._marks(path, header))
                    self._count()

    def _place(self, target: Target, stream: TarBytes, header: Header, member: Member) -> None:
        path = member.path.removeprefix(_BELOW)
        self.gauge.doing = shown(path)
        match member.kind:
            case "folder" if member.path == WORKSPACE:
                return
            case "folder":
                with self._refusing(member.path):
                    target.folder(path, self._marks(member.path, header))
                    self._count()
            case "link":
                self._links.append((member.path, header))
            case "hard link" if member.path in self._borrowers:
                return
            case "hard link":
                with self._refusing(member.path, gone=Refusal.HARD_LINK):
                    target.hard_link(path, member.target.removeprefix(_BELOW))
                    self._count()
            case "file":
                self._place_bytes(target, stream, header, member, member.path)

    def _lend(self, target: Target, stream: TarBytes, header: Header, member: Member, borrowers: Sequence[str]) -> None:
        first, *others = borrowers
        self._place_bytes(target, stream, header, member, first)
        for other in others:
            with self._refusing(other, gone=Refusal.HARD_LINK):
                target.hard_link(other.removeprefix(_BELOW), first.removeprefix(_BELOW))
                self._count()

    def _place_bytes(self, target: Target, stream: TarBytes, header: Header, member: Member, path: str) -> None:
        known = self.tree.by_path.get(member.path, member)
        pieces, marks = content(stream, header), self._marks(path, header)
        with self._refusing(path):
            target.file(path.removeprefix(_BELOW), self._checked(pieces, known), header.size, marks)
            self._count(header.size)
        with self._refusing(path):
            for _ in pieces:  # what was not taken, so that the next header is found
                self.gauge.advance()

    def _checked(self, pieces: Iterable[bytes | int], member: Member) -> Iterator[bytes | int]:
        digest, zeros = hashlib.sha256(), memoryview(bytes(PIECE))
        for piece in pieces:
            if isinstance(piece, bytes):
                digest.update(piece)
            elif member.sha256:
                for at in range(0, piece, PIECE):
                    digest.update(zeros[: min(PIECE, piece - at)])
            self.gauge.advance(size=piece if isinstance(piece, int) else len(piece))
            yield piece
        if member.sha256 and digest.hexdigest() != member.sha256:
            raise _Differs

    def _marks(self, path: str, header: Header) -> Marks:
        owner = None if self.strict or os.geteuid() != 0 else (header.uid, header.gid)
        mode = header.mode & (0o777 if self.strict else 0o7777)
        return Marks(mode, header.mtime, owner, tuple(self._attributes(path, header)))

    def _attributes(self, path: str, header: Header) -> Iterator[tuple[str, bytes]]:
        """Those that give no rights on this machine but what somebody who is trusted asks for."""
        for name, value in header.attributes.items():
            text = os.fsdecode(name)
            if is_kept(text) and not (self.strict and text in LISTS):
                yield text, value
            else:
                self._refuse_attribute(path, text, "nothing vouches for it" if text in LISTS else "it is the system's")

    def _refuse_attribute(self, path: str, name: str, why: str) -> None:
        self.refused.append(Refused(f"{shown(path)} ({shown(name)})", Refusal.ATTRIBUTE, why))

    def _count(self, size: int = 0) -> None:
        self.written += 1
        self.size += size
        self.gauge.advance(items=1)

    def _go_on(self) -> None:
        self.gauge.advance()

    def _refusing(self, path: str, gone: Refusal = Refusal.UNWRITABLE) -> _Refusing:
        return _Refusing(self.refused, shown(path), gone)


@dataclass(frozen=True)
class _Refusing:
    """Turns what goes wrong with one member into its refusal."""

    refused: list[Refused]
    name: str
    gone: Refusal

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        match error:
            case InTheWay():
                self._refuse(Refusal.EXISTS)
            case NotAFolder():
                self._refuse(Refusal.BELOW_LINK)
            case _Differs():
                self._refuse(Refusal.DIFFERS)
            case Damaged():
                self._refuse(Refusal.TRUNCATED, str(error))
            case TooMuch():
                self._refuse(Refusal.TOTAL)
            case FileNotFoundError():
                self._refuse(self.gone)
            case OSError() if not is_fatal(error):
                self._refuse(Refusal.UNWRITABLE, error.strerror or str(error))
            case _:
                return False
        return True

    def _refuse(self, reason: Refusal, detail: str = "") -> None:
        self.refused.append(Refused(self.name, reason, detail))


def _lent(chosen: Mapping[str, Member], tree: Tree) -> dict[str, list[str]]:
    """Paths of chosen hard links whose bytes are with a member that is not chosen, by that member's path."""
    lent: dict[str, list[str]] = {}
    for member in chosen.values():
        source = member.target
        while member.kind == "hard link" and (other := tree.by_path.get(source)) and other.kind == "hard link":
            source = other.target
        if member.kind == "hard link" and source not in chosen:
            lent.setdefault(source, []).append(member.path)
    return lent


def _is_chosen(path: str, paths: Sequence[str]) -> bool:
    if not paths:
        return _in_workspace(path)
    return any(path == chosen or path.startswith(f"{chosen}/") for chosen in paths)


def _in_workspace(path: str) -> bool:
    return path == WORKSPACE or path.startswith(_BELOW)


def _pieces(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, PIECE):
        yield piece
