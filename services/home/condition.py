"""Whether a home is fit for use, found out without changing anything."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from dataclasses import dataclass
from pathlib import Path

from services.home.paths import Home
from services.home.sqlite import explained

LITTLE_SPACE = 512 * 1024 * 1024
"""Bytes of free space below which a session's output may soon be cut."""


@dataclass(frozen=True)
class HomeCondition:
    """What was found of a home.

    Attributes:
        exists: Whether there is one.
        free: Bytes free on its file system, for this user.
        database_version: The number of the last migration; None while there is no database or it cannot be read.
        problems: What keeps it from being used, a clause each.
        notes: What should be changed and keeps nothing from working.
    """

    exists: bool
    free: int
    database_version: int | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def examine(home: Home) -> HomeCondition:
    """Look at a home; blocks for as long as the disk takes."""
    problems: list[str] = []
    notes: list[str] = []
    place = _nearest_directory(home.root)
    if not os.access(place, os.R_OK | os.W_OK | os.X_OK):
        problems.append(f"{place} cannot be read and written")
    if home.exists:
        mode = stat.S_IMODE(home.root.stat().st_mode)
        if mode & 0o022:
            problems.append(f"others may change it (mode {mode:04o}): chmod go-w {home.root}")
        if home.state_dir.exists() and not os.access(home.state_dir, os.W_OK | os.X_OK):
            problems.append(f"{home.state_dir} cannot be written")
    free = shutil.disk_usage(place).free
    if free < LITTLE_SPACE:
        notes.append("little space is free")
    version = _database_version(home.database_file, problems)
    return HomeCondition(home.exists, free, version, tuple(problems), tuple(notes))


def _nearest_directory(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.is_dir())


def _database_version(file: Path, problems: list[str]) -> int | None:
    if not file.exists():
        return None
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            return int(version)
        finally:
            connection.close()
    except sqlite3.Error as error:
        problems.append(str(explained(error, file)))
        return None
