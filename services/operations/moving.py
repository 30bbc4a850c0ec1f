"""Directories moved by one rename or, where that cannot be, copied, compared and then removed; all of it blocks."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

from services.errors import OperationError
from services.home import make_directory

Tell = Callable[[str, int, int, str], None]
"""Told of a note, how much is done, of how much, and what is counted; raises when the work is to stop."""

Rename = Callable[[Path, Path], None]

_CHUNK = 1024 * 1024


class Moved(Enum):
    """How a directory came to its new place."""

    RENAMED = "renamed"
    ALREADY = "it was there already"
    COPIED = "copied to another file system, compared, and removed"


class CrossesFileSystems(Exception):
    """A directory cannot be renamed to its new place."""


def move_directory(
    source: Path, target: Path, staging: Path, rename: Rename, tell: Tell
) -> tuple[Moved, tuple[str, ...]]:
    """Rename a directory, or copy it to `staging` where it cannot be renamed.

    Args:
        source: The directory.
        target: Where it is to be; nothing, unless it was moved before.
        staging: Beside `target`, and nobody else's.
        rename: Renames a directory, as `os.rename` does.
        tell: Told of files.

    Returns:
        What was done, and what was left out of a copy. A copy still has to be put in place by `replace_by_copy`.

    Raises:
        OperationError: It could not be moved; it is where it was.
    """
    if not os.path.lexists(source) and os.path.lexists(target):
        return Moved.ALREADY, ()
    try:
        rename_directory(source, target, rename)
    except CrossesFileSystems:
        return Moved.COPIED, copy_directory(source, staging, tell)
    return Moved.RENAMED, ()


def replace_by_copy(source: Path, target: Path, staging: Path) -> None:
    """Put a whole and compared copy in its place, and remove what it is of; done again, it changes nothing.

    Raises:
        OperationError: Something cannot be renamed or removed.
    """
    if os.path.lexists(staging):
        rename_directory(staging, target)
    remove_directory(source)


def rename_directory(source: Path, target: Path, rename: Rename = os.rename) -> None:
    """Give a directory another name in one step, on the disk once this returns.

    Raises:
        CrossesFileSystems: It has to be copied.
        OperationError: It cannot be renamed.
    """
    try:
        if os.path.lexists(target):  # an empty directory would be replaced
            raise OperationError(f"cannot move {source}", why=f"{target} is there already")
        rename(source, target)
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise CrossesFileSystems from error
        raise OperationError(f"cannot move {source} to {target}", why=error.strerror or str(error)) from error
    sync_directory(target.parent)


def copy_directory(source: Path, target: Path, tell: Tell) -> tuple[str, ...]:
    """Copy a directory to a place where nothing is, and compare every byte.

    Links, modes and times are kept; sockets, devices and pipes are left out.

    Args:
        source: The directory.
        target: Emptied first: whoever calls this knows that nothing else can be there.
        tell: Told of files.

    Returns:
        What was left out, by its path below the directory.

    Raises:
        OperationError: Something could not be read or written, or differs; `target` may hold a part of it.
    """
    left_out: list[str] = []
    try:
        remove_directory(target)
        make_directory(target)
        entries = list(_walk(source))
        for number, (path, found) in enumerate(entries, start=1):
            name = str(path.relative_to(source))
            if not _copy_entry(path, target / name, found):
                left_out.append(name)
            tell(f"copying {name}", number, len(entries), "files")
        for number, (path, found) in enumerate(reversed(entries), start=1):
            name = str(path.relative_to(source))
            if name not in left_out:
                _compare_entry(path, target / name, found)
                if stat.S_ISDIR(found.st_mode):
                    shutil.copystat(path, target / name, follow_symlinks=False)
            tell(f"comparing {name}", number, len(entries), "files")
        shutil.copystat(source, target)
        sync_tree(target)
    except OSError as error:
        raise OperationError(f"cannot copy {source}", why=_why(error)) from error
    return tuple(left_out)


def remove_directory(directory: Path) -> None:
    """Remove a directory with all that is in it, if it is there.

    Raises:
        OperationError: Something of it cannot be removed.
    """
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise OperationError(f"cannot remove {directory}", why=_why(error)) from error


def sync_directory(directory: Path) -> None:
    """Make names in a directory last."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(directory: Path) -> None:
    """Make all files below a directory last."""
    for root, _, names in os.walk(directory):
        for name in names:
            path = Path(root, name)
            if stat.S_ISREG(path.lstat().st_mode):
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        sync_directory(Path(root))


def measured(directory: Path) -> tuple[int, int]:
    """How many files there are below a directory, and how many bytes they have; what cannot be read counts as none."""
    files = size = 0
    for root, _, names in os.walk(directory):
        for name in names:
            try:
                found = os.lstat(f"{root}/{name}")
            except OSError:
                continue
            files += 1
            size += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return files, size


def _walk(directory: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """All below a directory, each folder before what is in it; an error is raised, not passed over."""
    with os.scandir(directory) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        path, seen = Path(entry.path), entry.stat(follow_symlinks=False)
        yield path, seen
        if stat.S_ISDIR(seen.st_mode):
            yield from _walk(path)


def _copy_entry(source: Path, target: Path, found: os.stat_result) -> bool:
    if stat.S_ISDIR(found.st_mode):
        target.mkdir(mode=0o700)
    elif stat.S_ISLNK(found.st_mode):
        target.symlink_to(source.readlink())
    elif stat.S_ISREG(found.st_mode):
        shutil.copy2(source, target, follow_symlinks=False)
    else:
        return False
    if os.geteuid() == 0:
        os.chown(target, found.st_uid, found.st_gid, follow_symlinks=False)
        if not stat.S_ISLNK(found.st_mode):
            target.chmod(0o700 if stat.S_ISDIR(found.st_mode) else stat.S_IMODE(found.st_mode))
    return True


def _compare_entry(source: Path, target: Path, found: os.stat_result) -> None:
    now = source.lstat()
    unchanged = (now.st_size, now.st_mtime_ns, now.st_mode) == (found.st_size, found.st_mtime_ns, found.st_mode)
    if stat.S_ISREG(found.st_mode):
        same = unchanged and _same_bytes(source, target)
    elif stat.S_ISLNK(found.st_mode):
        same = source.readlink() == target.readlink()
    else:
        same = {entry.name for entry in source.iterdir() if _is_kept(entry)} == {path.name for path in target.iterdir()}
    if not same:
        raise OperationError(f"{source} changed while it was copied", fix="Stop what writes there, and retry.")


def _is_kept(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISDIR(mode) or stat.S_ISLNK(mode) or stat.S_ISREG(mode)


def _same_bytes(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        while chunk := first.read(_CHUNK):
            if chunk != second.read(_CHUNK):
                return False
        return not second.read(1)


def _why(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
