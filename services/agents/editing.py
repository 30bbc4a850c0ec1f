"""Changing values in TOML that people wrote, with everything else left as it is.

A change cuts out the old value and pastes the new one, or puts in a line. Whatever that gives is read again, and is
used only when it says exactly what was meant.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from services.agents.problems import KeyPath, Problem, dotted
from services.agents.reading import decoded, parsed
from services.agents.values import MISSING, Value, identity, same, value_at, with_value, without
from services.errors import ConfigError

if TYPE_CHECKING:
    from services.agents.positions import Place


class Change(msgspec.Struct, frozen=True):
    """One key to set or to remove.

    Attributes:
        path: Keys only, no places in lists; tables on the way are made when missing.
        value: None removes the key, and a table this leaves empty unless a comment speaks of it.
    """

    path: tuple[str, ...]
    value: Value | None


def with_changes(data: bytes, changes: Sequence[Change], file: Path) -> bytes:
    """Change keys in the bytes of a TOML file; comments, order, spacing, line ends and BOM stay.

    Args:
        data: The whole file.
        changes: Made one after the other.
        file: Named in errors.

    Raises:
        ConfigError: The file is not TOML, or a change cannot be made without touching something else.
    """
    from services.agents.splicing import CannotSplice  # only reading belongs to start-up, here and below

    text = decoded(data, file)
    if isinstance(text, Problem):
        raise text.as_error()
    table = parsed(text, file)
    if isinstance(table, Problem):
        raise table.as_error()
    for change in changes:
        try:
            for step in _steps(change, table, text):
                text, table = _after(step, text, table)
            if change.value is not None and not same(value_at(table, change.path), change.value):
                raise CannotSplice
            if not text.strip():
                raise ConfigError("nothing else is in the file", fix="Keep the key, or delete the file.")
        except (CannotSplice, TypeError) as error:  # the latter: a value where a table should be
            raise _refused(change, file) from error
        except ConfigError as error:
            raise ConfigError(error.what, file=file, key=dotted(change.path), fix=error.fix) from error
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return bom + text.encode("utf-8")


def with_change(data: bytes, change: Change, file: Path) -> bytes:
    """Change one key; see `with_changes`."""
    return with_changes(data, (change,), file)


class _Step(msgspec.Struct, frozen=True):
    """A change small enough to be one splice; `prune` takes along the tables it leaves empty."""

    path: KeyPath
    value: Value | None
    prune: bool = False


def _steps(change: Change, table: Mapping[str, Any], text: str) -> Iterator[_Step]:
    if change.value is None:
        if value_at(table, change.path) is not MISSING:
            yield _Step(change.path, None, prune=True)
        return
    yield from _steps_to(change.path, value_at(table, change.path), change.value, text)


def _steps_to(path: KeyPath, old: object, value: Value, text: str) -> Iterator[_Step]:
    """A table is changed key by key, and `[[tables]]` one by one, so that what stays in them is not touched."""
    if same(old, value):
        return
    if value == {} and isinstance(old, Mapping) and _is_only_dots(path, text):
        yield _Step(path, None)
        yield _Step(path, value)
    elif isinstance(value, Mapping) and (isinstance(old, Mapping) or (old is MISSING and len(path) == 1 and value)):
        known = old if isinstance(old, Mapping) else {}
        for key, item in value.items():
            yield from _steps_to((*path, key), known.get(key, MISSING), item, text)
        for key in known:
            if key not in value:
                yield _Step((*path, key), None)
    elif not _has_headers(path, text):
        yield _Step(path, value)
    elif isinstance(old, list) and isinstance(value, list | tuple) and _are_tables(value):
        yield from _steps_between_blocks(path, old, value, text)
    else:
        yield _Step(path, None)
        yield _Step(path, value)


def _has_headers(path: KeyPath, text: str) -> bool:
    """Whether a table, or a list of them, is there without being written behind an equals sign."""
    place = _place(path, text)
    return place is not None and place.end == place.start


def _is_only_dots(path: KeyPath, text: str) -> bool:
    """Whether a table has neither header nor braces, so that it goes with the last key in it."""
    place = _place(path, text)
    return place is not None and place.end == place.start and not place.header


def _place(path: KeyPath, text: str) -> Place | None:
    from services.agents.positions import find_places

    return find_places(text).get(path)


def _are_tables(items: Sequence[Value]) -> bool:
    return bool(items) and all(isinstance(item, Mapping) for item in items)


def _steps_between_blocks(path: KeyPath, old: Sequence[Any], new: Sequence[Value], text: str) -> Iterator[_Step]:
    """From the last to the first, so that the places of those not yet changed stay true."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, list(map(identity, old)), list(map(identity, new)), autojunk=False)
    for kind, start, end, new_start, new_end in reversed(matcher.get_opcodes()):
        if kind == "equal":
            continue
        paired = min(end - start, new_end - new_start)
        for number in reversed(range(start + paired, end)):
            yield _Step((*path, number), None)
        for item in reversed(new[new_start + paired : new_end]):
            yield _Step((*path, start + paired), item)
        for number in reversed(range(paired)):
            yield from _steps_to((*path, start + number), old[start + number], new[new_start + number], text)


def _after(step: _Step, text: str, table: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Take one step, and read the text again to see that it says what was meant and nothing else."""
    from services.agents.splicing import CannotSplice, with_key, without_empty_tables, without_key

    if step.value is None:
        changed = without_key(text, step.path)
        wanted = list(without(table, step.path))
        if step.prune:
            changed = without_empty_tables(changed, step.path[:-1])
    else:
        changed = with_key(text, step.path, step.value, value_at(table, step.path))
        wanted = [with_value(table, step.path, step.value)]
    found = parsed(changed, Path()) if changed.strip() else {}
    if isinstance(found, Problem) or not any(same(found, table) for table in wanted):
        raise CannotSplice
    return changed, found


def _refused(change: Change, file: Path) -> ConfigError:
    return ConfigError(
        "cannot be changed without touching other lines",
        file=file,
        key=dotted(change.path),
        fix="Change it in an editor.",
    )
