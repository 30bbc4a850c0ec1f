"""Changing values in TOML that people wrote, with everything else left as it is.

tomlkit makes the change. Since it is known to move keys and comments now and then, its text is used only when it
holds exactly what was meant and every other line of the old text.
"""

from __future__ import annotations

import codecs
import copy
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from services.agents.positions import Place, find_places
from services.agents.problems import KeyPath, Problem, dotted
from services.agents.reading import decoded, parsed
from services.errors import ConfigError

Value: TypeAlias = bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]


class Change(msgspec.Struct, frozen=True):
    """One key to set.

    Attributes:
        path: Keys only, no places in lists; tables on the way are made when missing.
    """

    path: tuple[str, ...]
    value: Value


def with_change(data: bytes, change: Change, file: Path) -> bytes:
    """Set one key in the bytes of a TOML file; comments, order, spacing, line ends and BOM stay.

    Args:
        data: The whole file.
        change: What to set.
        file: Named in errors.

    Raises:
        ConfigError: The file is not TOML, or the change cannot be made without touching something else.
    """
    text = decoded(data, file)
    if isinstance(text, Problem):
        raise text.as_error()
    table = parsed(text, file)
    if isinstance(table, Problem):
        raise table.as_error()
    windows = "\r\n" in text and text.count("\n") == text.count("\r\n")
    plain = text.replace("\r\n", "\n") if windows else text
    changed = _changed_text(plain, change, file)
    if not _is_what_was_meant(changed, _changed_table(table, change)) or not _keeps_the_rest(plain, changed, change):
        raise _refused(change, file)
    if windows:
        changed = changed.replace("\n", "\r\n")
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return bom + changed.encode("utf-8")


def _refused(change: Change, file: Path) -> ConfigError:
    return ConfigError(
        "cannot be changed without touching other lines",
        file=file,
        key=dotted(change.path),
        fix="Change it in an editor.",
    )


def _changed_text(text: str, change: Change, file: Path) -> str:
    from tomlkit import parse, table
    from tomlkit.exceptions import TOMLKitError

    ended = text if text.endswith("\n") else text + "\n"
    cut = _end_of_table(ended, change.path)
    head, tail = ended[:cut], ended[cut:]
    try:
        document = parse(head)
        place: Any = document
        for key in change.path[:-1]:
            if key not in place:
                place[key] = table()
            place = place[key]
        place[change.path[-1]] = change.value
        changed = document.as_string() + tail
    except (TOMLKitError, TypeError, AttributeError) as error:  # the last two: a value where a table should be
        raise _refused(change, file) from error
    return changed if text.endswith("\n") else changed.removesuffix("\n")


def _end_of_table(text: str, path: tuple[str, ...]) -> int:
    """Where the `[table]` of a key ends, before comments on what follows: a new key belongs there.

    tomlkit sees the text only so far, and cannot harm the rest. It sees all of it when the table has no header.
    """
    places = find_places(text)
    table = places.get(path[:-1])
    if table is None or not table.header:
        return len(text)
    next_header = min((p.line for p in places.values() if p.header and p.line > table.line), default=math.inf)
    last_line = max(p.last_line for p in places.values() if table.line <= p.line < next_header)
    return sum(len(line) + 1 for line in text.split("\n")[:last_line])


def _changed_table(table: Mapping[str, Any], change: Change) -> dict[str, Any]:
    result: dict[str, Any] = copy.deepcopy(dict(table))
    place = result
    for key in change.path[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            return {}
    place[change.path[-1]] = change.value
    return result


def _is_what_was_meant(text: str, wanted: Mapping[str, Any]) -> bool:
    found = parsed(text, Path())
    return not isinstance(found, Problem) and _same(found, wanted)


def _same(found: object, wanted: object) -> bool:
    """Equal in value and type, with no difference between 1, 1.0 and true overlooked."""
    match wanted:
        case Mapping():
            return (
                isinstance(found, Mapping)
                and found.keys() == wanted.keys()
                and all(_same(found[key], wanted[key]) for key in wanted)
            )
        case str():
            return isinstance(found, str) and found == wanted
        case Sequence():
            return (
                isinstance(found, list)
                and len(found) == len(wanted)
                and all(_same(one, other) for one, other in zip(found, wanted, strict=True))
            )
        case float():
            return isinstance(found, float) and (found == wanted or (math.isnan(found) and math.isnan(wanted)))
        case _:
            return type(found) is type(wanted) and bool(found == wanted)


def _keeps_the_rest(old: str, new: str, change: Change) -> bool:
    """Whether the new text has all lines of the old one, in order, and more only where a key or table was added."""
    replaced = _replaced_value(old, change.path)
    lines = _lines_without(old, replaced)
    kept = 0
    for line in _lines_without(new, replaced):
        if kept < len(lines) and line == lines[kept]:
            kept += 1
        elif "#" in line:  # tomlkit gives a new table the comment of one inside it
            return False
    return kept == len(lines)


def _replaced_value(text: str, path: KeyPath) -> KeyPath:
    """The value a change is written over: the key's own, else that of the inline table it is added to."""
    places = find_places(text)
    while path:
        place = places.get(path)
        if place is not None and place.end > place.start:
            break
        path = path[:-1]
    return path


def _lines_without(text: str, path: KeyPath) -> list[str]:
    place = find_places(text).get(path, Place(0, 0))
    return (text[: place.start] + text[place.end :]).split("\n")
