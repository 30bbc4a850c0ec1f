"""TOML files with the mentions of an agent renamed, dropped or put back, one file at a time and whole."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from services.agents import (
    Agents,
    Dropped,
    Mention,
    dotted,
    line_finder,
    masked_diff,
    mention_dropped,
    mention_renamed,
    mention_restored,
)
from services.errors import FileConflict
from services.home import FileText, Home, Stamp, write_whole
from services.operations.model import KeyChange, Rewrite
from services.operations.references import TomlFile, names_agent, place_of

_LOCK_SECONDS = 5.0


def digest_of(data: bytes) -> str:
    """SHA-256 of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def renamed(file: TomlFile, alias: str, target: str, home: Home, agents: Agents) -> tuple[bytes, tuple[KeyChange, ...]]:
    """A file with every mention of an agent, and every path into its directory, under another alias.

    Raises:
        ConfigError: A place cannot be changed without touching something else.
    """
    data, changes = file.data, []
    line = line_finder(file.data)
    for mention in _mentions(file, alias, home, agents):
        text = target if mention.is_alias else _moved_path(mention, file, alias, target, home, agents)
        data = mention_renamed(data, mention, text, file.path)
        changes.append(KeyChange(dotted(mention.path), line(mention.path), mention.text, text))
    return data, tuple(changes)


def dropped(file: TomlFile, alias: str, home: Home, agents: Agents) -> tuple[bytes, tuple[Dropped, ...]]:
    """A file without the mentions of an agent, and what puts them back; paths into its directory stay.

    Raises:
        ConfigError: A place cannot be changed without touching something else.
    """
    data, found = file.data, []
    named = [mention for mention in _mentions(file, alias, home, agents) if mention.is_alias]
    for mention in reversed(named):  # from the last to the first, so that places in lists stay true
        data, one = mention_dropped(data, mention, file.path)
        found.append(one)
    return data, tuple(reversed(found))


def restored(data: bytes, found: tuple[Dropped, ...], alias: str, file: Path) -> bytes:
    """A file with mentions put back that were dropped.

    Raises:
        ConfigError: A place cannot be changed without touching something else.
    """
    for one in found:
        data = mention_restored(data, one, alias, file)
    return data


def drop_changes(file: TomlFile, found: tuple[Dropped, ...]) -> tuple[KeyChange, ...]:
    """Dropped mentions as changes of keys."""
    line = line_finder(file.data)
    return tuple(KeyChange(one.key, line(one.path), one.entry, "") for one in found)


def rewrite_of(file: TomlFile, data: bytes, changes: tuple[KeyChange, ...]) -> Rewrite:
    """Describe a file that is to hold `data`."""
    diff = masked_diff(file.data, data, file.path.name)
    return Rewrite(file.owner, str(file.path), digest_of(file.data), changes, diff)


def write_file(home: Home, file: TomlFile, data: bytes, *, locked: bool) -> None:
    """Write a file that still is what it was; blocks.

    Args:
        home: Where the locks are.
        file: As it was read.
        data: All of it.
        locked: The caller holds the owner's lock already.

    Raises:
        FileConflict: It changed meanwhile.
        LockHeld: Somebody else is changing it.
        PinfoldError: It cannot be written.
    """
    _sweep(file.path)
    if data == file.data:
        return
    expected = FileText(file.path, file.data, Stamp.of(file.path))
    if locked or not file.owner:
        write_whole(file.path, data, expected=expected)
        return
    lock = home.agent_lock(file.owner)
    lock.acquire(_LOCK_SECONDS)
    try:
        write_whole(file.path, data, expected=expected)
    finally:
        lock.release()


def _sweep(file: Path) -> None:
    """Remove what processes left beside a file that were killed while they wrote it."""
    pattern = re.compile(rf"\.{re.escape(file.name)}\.(?P<pid>[0-9]+)-[0-9a-f]+\.new")
    for beside in file.parent.iterdir():
        found = pattern.fullmatch(beside.name)
        if found and not Path(f"/proc/{found['pid']}").exists():
            beside.unlink(missing_ok=True)


def check_still(shown: Rewrite, fresh: Rewrite | None) -> None:
    """Refuse to go on with a plan whose file is another by now.

    Raises:
        FileConflict: It is.
    """
    if fresh is None or fresh.digest != shown.digest:
        raise FileConflict(
            f"{shown.file} changed since the plan was made", why="somebody else wrote it", fix="Look at a new plan."
        )


def _mentions(file: TomlFile, alias: str, home: Home, agents: Agents) -> Iterator[Mention]:
    return (mention for mention in file.mentions if names_agent(mention, alias, file, home, agents))


def _moved_path(mention: Mention, file: TomlFile, alias: str, target: str, home: Home, agents: Agents) -> str:
    """The path as it is written, with the one part exchanged that makes it lead to the directory's new name."""
    old, new = str(home.agent_dir(alias)), str(home.agent_dir(target))
    place = place_of(mention, file, home, agents)
    if not (place == old or place.startswith(f"{old}/")):  # it leads there by way of a link
        place = os.path.realpath(place)
        old, new = os.path.realpath(old), os.path.realpath(new)
    wanted = new + place[len(old) :]
    parts = mention.text.split("/")
    for number, part in enumerate(parts):
        if part == alias:
            text = "/".join((*parts[:number], target, *parts[number + 1 :]))
            if place_of(Mention(mention.kind, mention.path, text), file, home, agents) == wanted:
                return text
    return wanted
