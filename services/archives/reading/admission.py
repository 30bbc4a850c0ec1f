"""Which members of a tar are taken, and why others are not."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator

from services.archives.layout import WORKSPACE
from services.archives.members import Member, MemberKind, shown
from services.archives.reading.model import Limits, Refusal, Refused
from services.archives.tars.content import skip_content
from services.archives.tars.decompression import Damaged, TarBytes, TooMuch
from services.archives.tars.headers import Header, check_end, next_header

LONGEST_PATH = 16 * 1024
LONGEST_NAME = 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_KINDS: dict[bytes, MemberKind] = {b"0": "file", b"1": "hard link", b"2": "link", b"5": "folder"}
_ODD = {b"3": Refusal.DEVICE, b"4": Refusal.DEVICE, b"6": Refusal.FIFO}


class Admission:
    """Judges the members of one tar, one after the other.

    Args:
        limits: When it is taken for a bomb.
        strict: Also refuse what workspaces may well have, and what only somebody who is trusted may ask to be restored:
            links that lead out, control characters in names, names that differ in case only.
    """

    def __init__(self, limits: Limits, *, strict: bool) -> None:
        self._limits = limits
        self._strict = strict
        self._kinds: dict[str, MemberKind] = {}
        self._folded: set[str] = set()
        self._barred: set[str] = set()
        self._count = 0
        self._total = 0

    def judge(self, header: Header) -> Member | Refused:
        """Say what a member is, or why it is refused."""
        self._count += 1
        path = os.fsdecode(header.name).removesuffix("/")
        reason, detail = self._fault(path, header)
        if reason is not None:
            if reason is not Refusal.DUPLICATE:
                self._barred.add(path)
            return Refused(shown(path or header.name), reason, detail)
        kind = _KINDS[header.type]
        self._kinds[path] = kind
        self._folded.add(_folded(path))
        size = header.size if kind == "file" else 0
        self._total += size
        return Member(
            path=path,
            kind=kind,
            size=size,
            mode=header.mode,
            mtime=header.mtime,
            target=os.fsdecode(header.target) if kind in ("link", "hard link") else "",
        )

    def _fault(self, path: str, header: Header) -> tuple[Refusal | None, str]:
        if self._count > self._limits.members:
            return Refusal.TOO_MANY, f"at most {self._limits.members:,} are read"
        if (reason := _fault_of_path(path)) is not None:
            return reason, ""
        if header.type not in _KINDS:
            return _ODD.get(header.type, Refusal.UNKNOWN), ""
        if self._strict and _CONTROL.search(path):
            return Refusal.CONTROL, ""
        if path in self._kinds:
            return Refusal.DUPLICATE, ""
        if self._strict and _folded(path) in self._folded:
            return Refusal.CASE_TWIN, ""
        if (fault := self._fault_above(path)) is not None:
            return fault
        return self._fault_of_kind(path, header)

    def _fault_of_kind(self, path: str, header: Header) -> tuple[Refusal | None, str]:
        target = os.fsdecode(header.target)
        match _KINDS[header.type]:
            case "link" if not target or "\0" in target:
                return Refusal.NO_NAME, ""
            case "link" if self._strict and leads_out(path, target):
                return Refusal.LINK_ESCAPES, shown(target)
            case "hard link" if self._kinds.get(target) not in ("file", "hard link"):
                return Refusal.HARD_LINK, shown(target)
            case "file" if header.size > self._limits.member_size:
                return Refusal.TOO_LARGE, f"it has {header.size:,} bytes, at most {self._limits.member_size:,} are read"
            case "file" if self._total + header.size > self._limits.total_size:
                return Refusal.TOTAL, f"at most {self._limits.total_size:,} bytes are read"
            case _:
                return None, ""

    def _fault_above(self, path: str) -> tuple[Refusal, str] | None:
        above = path.rpartition("/")[0]
        while above:
            if above in self._barred:
                return Refusal.BELOW_REFUSED, shown(above)
            if (kind := self._kinds.get(above)) is not None:
                return None if kind == "folder" else (Refusal.BELOW_LINK, shown(above))
            above = above.rpartition("/")[0]
        return None


def admitted(
    stream: TarBytes, admission: Admission, advance: Callable[[], None] = lambda: None
) -> Iterator[tuple[Header, Member] | Refused]:
    """Yield the members of a tar; damage is told of as one that is refused, and ends it.

    A file's bytes may be read, all of them or none, before the next member is asked for.

    Args:
        stream: At the tar's beginning.
        admission: Judges them.
        advance: Told of each member.
    """
    name = "the beginning"
    try:
        while (header := next_header(stream)) is not None:
            begun = stream.position
            advance()
            verdict = admission.judge(header)
            name = f"behind {shown(header.name)}"
            yield verdict if isinstance(verdict, Refused) else (header, verdict)
            if stream.position == begun:
                skip_content(stream, header)
            if isinstance(verdict, Refused) and verdict.reason is Refusal.TOO_MANY:
                return
        name = "the end"
        check_end(stream)
    except Damaged as error:
        yield Refused(name, Refusal.TRUNCATED, str(error))
    except TooMuch:
        yield Refused(name, Refusal.TOTAL, "more comes out of it than it says")


def leads_out(path: str, target: str) -> bool:
    """Whether a symbolic link may lead out of the workspace.

    `..` is followed only at a target's beginning, where it is sure what it means: behind a name that is itself a link
    it could lead anywhere.
    """
    if target.startswith("/"):
        return True
    depth = path.count("/") - 1  # folders between the link and the workspace
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return ups > depth or ".." in parts[ups:]


def _fault_of_path(path: str) -> Refusal | None:
    if path.startswith("/"):
        return Refusal.ABSOLUTE
    parts = path.split("/")
    if ".." in parts:
        return Refusal.PARENT
    if not path or "\0" in path or "" in parts or "." in parts:
        return Refusal.NO_NAME
    if parts[0] != WORKSPACE:
        return Refusal.OUTSIDE
    if len(path) > LONGEST_PATH or any(len(os.fsencode(part)) > LONGEST_NAME for part in parts):
        return Refusal.TOO_LONG
    return None


def _folded(path: str) -> str:
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
