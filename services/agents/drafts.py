"""An `agent.toml` as it would be: changed in memory first, compared with the disk, then written whole or not at all.

What is here blocks: parsing and judging a file takes milliseconds, and most of it reads the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from services.agents.agent import Agent
from services.agents.editing import Change, with_changes
from services.agents.problems import KeyPath, Problem, dotted
from services.agents.reading import decoded, parsed, usable_data
from services.agents.values import MISSING, differences, same, value_at

Judge = Callable[[str, bytes], Agent]
"""Tells what an agent would be if its file held these bytes."""


class Draft(msgspec.Struct, frozen=True):
    """One `agent.toml` as it would be.

    Attributes:
        alias: The agent.
        file: Its `agent.toml`.
        base: The file when the draft was begun; empty when it was missing.
        changes: Those made so far, one for each path; one that leads back to what `base` says is dropped.
        data: `base` with the changes: exactly what would be written.
        agent: The agent as it would be, with every problem it would have.
    """

    alias: str
    file: Path
    base: bytes
    changes: tuple[Change, ...]
    data: bytes
    agent: Agent

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.data != self.base

    def diff(self) -> tuple[str, ...]:
        """What changes in the file, line by line as `diff -u` writes it; values of environment variables are masked."""
        from services.agents.masking import masked_diff

        return masked_diff(self.base, self.data, self.file.name)

    def __repr__(self) -> str:
        return f"Draft({self.alias!r}, {len(self.changes)} changes)"  # the file may hold what no log should

    @property
    def table(self) -> Mapping[str, Any]:
        """What the draft's text says, as plain values; parsed anew each time."""
        return table_of(self.data, self.file)

    def value(self, path: KeyPath) -> object:
        """What the draft's text says at a path; `MISSING` when nothing."""
        return value_at(self.table, path)


class Disagreement(msgspec.Struct, frozen=True):
    """A key that the draft, or somebody on disk, changed since the draft was begun.

    Attributes:
        path: The key.
        base: What both began with; `MISSING` when it was not there, as for the two below.
        mine: What the draft says.
        theirs: What the disk says.
    """

    path: tuple[str, ...]
    base: object
    mine: object
    theirs: object

    @property
    def conflicts(self) -> bool:
        """Whether both changed it, and not to the same."""
        return not (same(self.mine, self.base) or same(self.theirs, self.base) or same(self.mine, self.theirs))


def draft_of(alias: str, file: Path, judge: Judge, changes: Iterable[Change] = ()) -> Draft:
    """Begin a draft with what is on disk now.

    Args:
        alias: The agent.
        file: Its `agent.toml`.
        judge: Tells what the agent would be.
        changes: Made at once.

    Raises:
        ConfigError: The file is not usable as it is, or cannot be changed in this way.
    """
    return _drafted(alias, file, usable_data(file), changes, judge)


def edited(draft: Draft, changes: Iterable[Change], judge: Judge) -> Draft:
    """Make more changes; nothing is written.

    Raises:
        ConfigError: The text cannot be changed in this way.
    """
    return _drafted(draft.alias, draft.file, draft.base, (*draft.changes, *changes), judge)


def rebased(draft: Draft, keep: Collection[tuple[str, ...]] | None, judge: Judge) -> Draft:
    """The draft's changes, or those whose path is in `keep`, made to what is on disk now.

    Raises:
        ConfigError: The file on disk is not usable, or cannot be changed in this way.
    """
    kept = (change for change in draft.changes if keep is None or change.path in keep)
    return draft_of(draft.alias, draft.file, judge, kept)


def disagreements(draft: Draft) -> tuple[Disagreement, ...]:
    """Compare three ways: where the draft began, what it says, and what is on disk now.

    Raises:
        ConfigError: The file on disk is not usable.
    """
    base, mine = table_of(draft.base, draft.file), table_of(draft.data, draft.file)
    theirs = table_of(usable_data(draft.file), draft.file)
    paths = [change.path for change in draft.changes]
    for path in differences(base, theirs):
        if not any(path[: len(own)] == own for own in paths):
            paths.append(tuple(str(key) for key in path))
    found = (Disagreement(path, value_at(base, path), value_at(mine, path), value_at(theirs, path)) for path in paths)
    return tuple(one for one in found if not (same(one.mine, one.base) and same(one.theirs, one.base)))


def table_of(data: bytes, file: Path) -> Mapping[str, Any]:
    """What an `agent.toml` says, as plain values; nothing when it is missing.

    Raises:
        ConfigError: It is not TOML.
    """
    text = decoded(data, file)
    if isinstance(text, Problem):
        raise text.as_error()
    table = parsed(text, file) if data else {}
    if isinstance(table, Problem):
        raise table.as_error()
    return table


def changed_paths(before: bytes, after: bytes, file: Path) -> str:
    """Name the keys in which two versions of a file differ, for the activity log; never their values."""
    return ", ".join(dotted(path) for path in differences(table_of(before, file), table_of(after, file)))


def _drafted(alias: str, file: Path, base: bytes, changes: Iterable[Change], judge: Judge) -> Draft:
    from services.agents.writing import SCHEMA_LINE

    kept = _without_detours(changes, table_of(base, file))
    data = with_changes(base or SCHEMA_LINE.encode(), kept, file) if kept else base
    return Draft(alias, file, base, kept, data, judge(alias, data))


def _without_detours(changes: Iterable[Change], base: Mapping[str, Any]) -> tuple[Change, ...]:
    """The last change of each path, in the order made, without those that lead back to where the file began."""
    last: dict[tuple[str, ...], Change] = {}
    for change in changes:
        for path in [path for path in last if len(path) > len(change.path) and path[: len(change.path)] == change.path]:
            del last[path]
        last[change.path] = change
        inside_another = any(change.path[: len(path)] == path for path in last if path != change.path)
        was = value_at(base, change.path)
        if not inside_another and (was is MISSING if change.value is None else same(was, change.value)):
            del last[change.path]
    return tuple(last.values())
