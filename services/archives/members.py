"""The members of an archive, and the list of a workspace's that lies beside its tar."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Literal

import msgspec

MemberKind = Literal["file", "folder", "link", "hard link"]


class Member(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file, folder or link of an archive.

    Attributes:
        path: Its path in the archive: `memory.jsonl`, `workspace/src/app.py`; bytes that are no UTF-8 are surrogates.
        size: Bytes; 0 for what is no file.
        mode: Permission bits.
        mtime: Nanoseconds since 1970.
        target: Where a link leads; for a hard link, the path of the member it shares its bytes with.
        sha256: Of its bytes, 64 hex digits; "" where it is not known without reading them.
    """

    path: str
    kind: MemberKind
    size: int = 0
    mode: int = 0
    mtime: int = 0
    target: str = ""
    sha256: str = ""

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


class _Listed(Member, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the list: a member whose path and target are text, and as base64 too where they are not UTF-8."""

    raw: str = ""
    raw_target: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Listed).decode


def listed(member: Member) -> bytes:
    """Write a member as a line of JSON."""
    try:
        return _encode(member) + b"\n"
    except UnicodeEncodeError:
        path, raw = _text(member.path)
        target, raw_target = _text(member.target)
        fields = msgspec.structs.asdict(member) | {"path": path, "target": target}
        return _encode(_Listed(**fields, raw=raw, raw_target=raw_target)) + b"\n"


def from_list(line: bytes) -> Member:
    """Read back what `listed` wrote.

    Raises:
        ValueError: It is no such line.
    """
    try:
        found = _decode(line)
        fields = {name: getattr(found, name) for name in Member.__struct_fields__}
        if found.raw:
            fields["path"] = os.fsdecode(base64.b64decode(found.raw, validate=True))
        if found.raw_target:
            fields["target"] = os.fsdecode(base64.b64decode(found.raw_target, validate=True))
        return Member(**fields)
    except (msgspec.MsgspecError, binascii.Error, RecursionError) as error:
        raise ValueError(str(error)) from error


def shown(name: str | bytes) -> str:
    r"""A name as text for people: what is not UTF-8 is written as `\xff`."""
    return os.fsencode(name).decode("utf-8", errors="backslashreplace")


def _text(name: str) -> tuple[str, str]:
    try:
        name.encode()
    except UnicodeEncodeError:
        return shown(name), base64.b64encode(os.fsencode(name)).decode("ascii")
    return name, ""
