"""What a packed workspace was, file by file, so that nothing else is removed; all of it blocks."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from services.errors import OperationError
from services.home import make_directory, read_file, write_whole
from services.operations.moving import Tell, sync_directory

_LIMIT = 4 * 1024**3

FileStamp = tuple[int, int, int, int]
"""Kind, bytes, time of the last change in nanoseconds, and inode."""

Stamps = Mapping[bytes, FileStamp]
"""By path below the workspace."""


def stamps_of(workspace: Path) -> Stamps:
    """Take the stamps of all that is in a workspace; a folder's say only that it is one.

    Raises:
        OperationError: A part of it cannot be looked at.
    """
    try:
        return dict(_walk(os.fsencode(workspace), b""))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise OperationError(f"cannot look at {workspace}", why=error.strerror or str(error)) from error


def save_stamps(file: Path, stamps: Stamps) -> None:
    """Keep stamps for the time after a crash."""
    make_directory(file.parent)
    write_whole(file, msgspec.msgpack.encode(stamps))


def load_stamps(file: Path) -> Stamps:
    """Read stamps that were kept; none when there are none.

    Raises:
        OperationError: They are damaged.
    """
    try:
        return msgspec.msgpack.decode(read_file(file, _LIMIT).data, type=dict[bytes, FileStamp])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise OperationError(f"{file} is damaged", why=str(error)) from error


def strangers(workspace: Path, known: Stamps) -> tuple[str, ...]:
    """What is in a workspace that is not as it was packed; what is there no more does not count.

    Raises:
        OperationError: A part of it cannot be looked at.
    """
    now = stamps_of(workspace)
    return tuple(os.fsdecode(path) for path, stamp in now.items() if known.get(path) != stamp)


def remove_known(workspace: Path, known: Stamps, tell: Tell) -> tuple[str, ...]:
    """Remove what is as it was packed, and the workspace itself once nothing else is in it.

    Returns:
        What was left since it is otherwise, by its path below the workspace.

    Raises:
        OperationError: Something cannot be removed.
    """
    removing = _Removing(os.fsencode(workspace), known, tell)
    try:
        if workspace.is_dir():
            removing.empty(b"")
        if not removing.left and os.path.lexists(workspace) and not os.path.ismount(workspace):
            workspace.rmdir()
            sync_directory(workspace.parent)
    except OSError as error:
        raise OperationError(f"cannot remove {workspace}", why=error.strerror or str(error)) from error
    return tuple(removing.left)


class _Removing:
    """Removes files that are known, and folders that are empty then."""

    def __init__(self, top: bytes, known: Stamps, tell: Tell) -> None:
        self.left: list[str] = []
        self._top = top
        self._known = known
        self._tell = tell
        self._gone = 0

    def empty(self, below: bytes) -> None:
        with os.scandir(self._top + b"/" + below if below else self._top) as entries:
            found = list(entries)
        for entry in found:
            path = below + b"/" + entry.name if below else entry.name
            stamp = _stamp(entry.stat(follow_symlinks=False))
            if stamp != self._known.get(path):
                self.left.append(os.fsdecode(path))
            elif stamp[0] == stat.S_IFDIR:
                before = len(self.left)
                self.empty(path)
                if len(self.left) == before:
                    os.rmdir(entry.path)  # noqa: PTH106 - bytes
            else:
                os.unlink(entry.path)  # noqa: PTH108 - bytes
            self._gone += 1
            self._tell(f"removing {os.fsdecode(path)}", self._gone, len(self._known), "files")


def _walk(top: bytes, below: bytes) -> Iterator[tuple[bytes, FileStamp]]:
    """All below a directory, each folder before what is in it."""
    with os.scandir(top + b"/" + below if below else top) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path = below + b"/" + entry.name if below else entry.name
        stamp = _stamp(entry.stat(follow_symlinks=False))
        yield path, stamp
        if stamp[0] == stat.S_IFDIR:
            yield from _walk(top, path)


def _stamp(found: os.stat_result) -> FileStamp:
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFDIR:
        return kind, 0, 0, 0
    return kind, found.st_size, found.st_mtime_ns, found.st_ino
