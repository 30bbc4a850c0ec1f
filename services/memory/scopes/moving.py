"""Moving keys from one scope to another, all in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from services.errors import InputRefused
from services.memory.scopes import rows
from services.memory.scopes.model import Scope
from services.memory.scopes.recording import Change, held_by
from services.memory.scopes.values import parse


class Move(msgspec.Struct, frozen=True):
    """What moving keys does, or would do.

    Attributes:
        moved: The keys that go.
        clashing: The keys that the other scope has too.
        gone: The keys that are not there any more.
        changes: What was there before, for taking it back; empty after a dry run.
    """

    moved: tuple[str, ...]
    clashing: tuple[str, ...]
    gone: tuple[str, ...]
    changes: tuple[Change, ...] = ()


def move(
    connection: sqlite3.Connection,
    source: Scope,
    target: Scope,
    keys: Sequence[str],
    now: int,
    *,
    replace: bool,
    dry_run: bool,
) -> Move:
    """Move keys with their times to live; those that clash stay where they are unless they may replace.

    Raises:
        InputRefused: Both scopes are the same.
    """
    if source == target:
        raise InputRefused("the keys are in that scope already")
    here, there = held_by(connection, source, keys, now), held_by(connection, target, keys, now)
    clashing = tuple(key for key in keys if key in here and key in there)
    moved = tuple(key for key in keys if key in here and (replace or key not in there))
    gone = tuple(key for key in keys if key not in here)
    if dry_run or not moved:
        return Move(moved, clashing, gone)
    for key in moved:
        rows.put(connection, target, key, parse(here[key].value), here[key].expires_at, now)
        rows.remove(connection, source, key, now)
    taken = {key: here[key] for key in moved}
    replaced = {key: there[key] for key in moved if key in there}
    return Move(moved, clashing, gone, (Change(source, taken, {}), Change(target, replaced, taken)))
