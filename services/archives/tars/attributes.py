"""Extended attributes and access control lists as PAX records `SCHILY.xattr.*`, which GNU tar and bsdtar read too.

Kept are `user.*` and POSIX access control lists. What else there may be is the kernel's (`security.*`) or root's
(`trusted.*`): it says something of the machine the file was on, and may give rights on another.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

PREFIX = "SCHILY.xattr."
LISTS = ("system.posix_acl_access", "system.posix_acl_default")
"""Access control lists, as the kernel has them."""

_OWN = "user."
_MOST = 32 * 1024
"""Bytes of one member's attributes, so that its header stays small enough for every reader."""

_EVERYWHERE = ("security.selinux", "security.ima", "security.evm", "trusted.overlay.")
"""What machines put on every file; not worth telling."""

_NONE_HERE = (errno.ENOTSUP, errno.ENODATA, errno.ENOENT)


@dataclass(frozen=True)
class Attributes:
    """What a file or folder has.

    Attributes:
        records: PAX records, sorted; bytes that are no UTF-8 are surrogates.
        left_out: Names of those that are not among them.
    """

    records: dict[str, str]
    left_out: tuple[str, ...] = ()


def is_kept(name: str) -> bool:
    """Whether an attribute may be kept, and set again."""
    return (name.startswith(_OWN) or name in LISTS) and not {"\0", "=", "\n"} & set(name)


def attributes_of(place: int | str) -> Attributes:
    """Read the attributes of an open file, or of a path whose last part is no link."""
    follow = isinstance(place, int)
    records: dict[str, str] = {}
    left_out: list[str] = []
    size = 0
    try:
        names = sorted(os.listxattr(place, follow_symlinks=follow))
    except OSError as error:
        return Attributes({}, () if error.errno in _NONE_HERE else (error.strerror or str(error),))
    for name in names:
        if name.startswith(_EVERYWHERE):
            continue
        try:
            value = os.getxattr(place, name, follow_symlinks=follow) if is_kept(name) else None
        except OSError:  # it went, or is not to be read
            value = None
        size += len(name) + len(value or b"")
        if value is None or size > _MOST:
            left_out.append(name)
        else:
            records[f"{PREFIX}{name}"] = os.fsdecode(value)
    return Attributes(records, tuple(left_out))
