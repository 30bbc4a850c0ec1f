"""Parsed TOML as values: looked up, compared and changed."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

from services.agents.problems import KeyPath

Value: TypeAlias = bool | int | float | str | Sequence["Value"] | Mapping[str, "Value"]
"""What can be written as TOML; dates are read, but never written by Pinfold."""


class Missing(Enum):
    """Stands for a value that is not there."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing.MISSING


def value_at(table: Mapping[str, Any], path: KeyPath) -> object:
    """What stands at the end of a path; `MISSING` when nothing does."""
    found: Any = table
    for key in path:
        try:
            found = found[key]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return found


def with_value(table: Mapping[str, Any], path: KeyPath, value: object) -> dict[str, Any]:
    """A copy of a table with one value set; tables on the way are made, and lists grow where the path says so.

    Raises:
        TypeError: Something that is no table stands in the way.
    """
    result = copy.deepcopy(dict(table))
    place: Any = result
    for key in path[:-1]:
        place = place.setdefault(key, {}) if isinstance(key, str) else place[key]
        if not isinstance(place, dict | list):
            raise TypeError("not a table")
    if isinstance(place, list):
        place.insert(_number(path[-1]), value)
    else:
        place[path[-1]] = value
    return result


def without(table: Mapping[str, Any], path: KeyPath) -> Iterator[dict[str, Any]]:
    """Copies of a table that lack one value: the first lacks only that, each next one also a table this left empty.

    Args:
        table: The table.
        path: What to take away; may be missing.
    """
    result = copy.deepcopy(dict(table))
    around = value_at(result, path[:-1])
    if value_at(result, path) is not MISSING:
        del around[path[-1]]  # type: ignore[attr-defined]  # a table or a list, since something stands in it
    yield result
    if len(path) > 1 and around == {} and isinstance(path[-2], str):
        yield from without(result, path[:-1])


def same(found: object, wanted: object) -> bool:
    """Equal in value and type, with no difference between 1, 1.0 and true overlooked."""
    match wanted:
        case Mapping():
            return (
                isinstance(found, Mapping)
                and found.keys() == wanted.keys()
                and all(same(found[key], wanted[key]) for key in wanted)
            )
        case str():
            return isinstance(found, str) and found == wanted
        case Sequence():
            return (
                isinstance(found, Sequence)
                and not isinstance(found, str)
                and len(found) == len(wanted)
                and all(same(one, other) for one, other in zip(found, wanted, strict=True))
            )
        case float():
            return isinstance(found, float) and (found == wanted or (math.isnan(found) and math.isnan(wanted)))
        case _:
            return type(found) is type(wanted) and bool(found == wanted)


def identity(value: object) -> str:
    """A text that two values have in common exactly when they are the `same`."""
    match value:
        case Mapping():
            return f"{{{','.join(f'{key!r}:{identity(value[key])}' for key in sorted(value))}}}"
        case str():
            return repr(value)
        case Sequence():
            return f"[{','.join(map(identity, value))}]"
        case float():
            return repr(value + 0.0)  # of both zeros one
        case _:
            return repr(value)


def differences(before: object, after: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of values, below tables, that two tables do not have in common."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from differences(before.get(key, MISSING), after.get(key, MISSING), (*path, key))
    elif isinstance(before, Mapping) and before and after is MISSING:
        yield from differences(before, {}, path)
    elif isinstance(after, Mapping) and after and before is MISSING:
        yield from differences({}, after, path)
    elif not same(before, after):
        yield path


def _number(key: str | int) -> int:
    if isinstance(key, str):
        raise TypeError("not a place in a list")
    return key
