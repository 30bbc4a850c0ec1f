"""Changes as people type them on a command line: `permissions.level=full`, `permissions.allowed_commands+=jj`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

import msgspec

from services.agents.agent import Agent
from services.agents.aliases import nearest
from services.agents.checking import Form, find_faults, form_at
from services.agents.editing import Change
from services.agents.model import AgentConfig
from services.agents.problems import KeyPath, dotted, quoted
from services.agents.values import MISSING, Value, same, value_at, with_value
from services.errors import ConfigError

_ASSIGNMENT = re.compile(
    r"""\s*(?P<key>(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^"'=])+?)\s*(?P<sign>\+=|-=|=)(?P<value>.*)""", re.DOTALL
)
_USAGE = "Write KEY=VALUE, KEY+=ENTRY or KEY-=ENTRY."


class Assignment(msgspec.Struct, frozen=True):
    """One `KEY=VALUE` as typed.

    Attributes:
        sign: `=` sets, `+=` adds entries to a list, `-=` takes them out.
        text: What stands behind the sign.
    """

    path: tuple[str, ...]
    sign: Literal["=", "+=", "-="]
    text: str


def read_assignment(text: str) -> Assignment:
    """Take `KEY=VALUE` apart.

    Raises:
        ConfigError: It is none; the value is not quoted, since it may be a secret.
    """
    found = _ASSIGNMENT.fullmatch(text)
    if not found:
        raise ConfigError(f"{quoted(text.split('=')[0])} is no assignment", fix=_USAGE)
    sign = cast("Literal['=', '+=', '-=']", found["sign"])
    return Assignment(read_key(found["key"]), sign, found["value"].strip())


def read_key(text: str) -> tuple[str, ...]:
    """Take a dotted key apart.

    Raises:
        ConfigError: It is none.
    """
    try:
        place: Any = tomllib.loads(f"{text} = 0") if "\n" not in text else {}
    except tomllib.TOMLDecodeError:
        place = {}
    path: list[str] = []
    while isinstance(place, dict) and len(place) == 1:
        ((key, place),) = place.items()
        path.append(key)
    if place != 0:
        raise ConfigError(f"{quoted(text)} is no key", fix="Write it with dots, such as permissions.level.")
    return tuple(path)


def assigned(
    agent: Agent, table: Mapping[str, Any], assignments: Iterable[str], unset: Iterable[str] = ()
) -> tuple[Change, ...]:
    """Turn assignments into changes of an agent's file, each held to what its key may be.

    Args:
        agent: As it is now; a list that its file does not have is begun with the one in force.
        table: What its file says.
        assignments: `KEY=VALUE`, `KEY+=ENTRY` or `KEY-=ENTRY`; made in order.
        unset: Keys to remove, after that.

    Raises:
        ConfigError: A key is unknown, a value is of the wrong kind, or an entry to take out is not there.
    """
    made: list[Change] = []
    for assignment in map(read_assignment, assignments):
        path = assignment.path
        form = form_at(path, AgentConfig)
        if form is None:
            _refuse_unknown(path)
        elif assignment.sign == "=":
            value = _read_value(assignment.text, form)
            if form.items and isinstance(value, str):
                raise ConfigError("must be a list", key=dotted(path), fix='Write ["one", "two"], or add one with +=.')
            _hold_to_form(path, value)
            made.append(Change(path, value))
        else:
            now = value_at(table, path)
            value = _relisted(assignment, form, _in_force(agent, path) if now is MISSING else now)
            made.append(Change(path, value))
        table = with_value(table, path, made[-1].value)
    for path in map(read_key, unset):
        if form_at(path, AgentConfig) is None:
            _refuse_unknown(path)
        made.append(Change(path, None))
    return tuple(made)


def _relisted(assignment: Assignment, form: Form, now: object) -> Value:
    path, items = assignment.path, form.items
    if items is None:
        raise ConfigError("is not a list", key=dotted(path), fix=f"Set it with {dotted(path)}=VALUE.")
    given = _read_value(assignment.text, items)
    entries = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    held = list(now) if isinstance(now, Sequence) and not isinstance(now, str) else []
    if assignment.sign == "+=":
        held += [entry for entry in entries if not any(same(one, entry) for one in held)]
        _hold_to_form(path, held)
        return held
    for entry in entries:
        if not any(same(one, entry) for one in held):
            near = nearest(entry, [one for one in held if isinstance(one, str)]) if isinstance(entry, str) else ""
            fix = f"Did you mean {quoted(near)}?" if near else ""
            raise ConfigError(f"has no entry {quoted(str(entry))}", key=dotted(path), fix=fix)
        held = [one for one in held if not same(one, entry)]
    return held


def _read_value(text: str, form: Form) -> Value:
    """Read TOML; where text is wanted, anything that is none, or none between quotes, is that text itself."""
    try:
        found = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        found = {}
    if found.keys() != {"value"}:
        return text
    value: Value = found["value"]
    wants_text = form.is_text and not isinstance(value, str | list | dict)
    return text if wants_text else value


def _hold_to_form(path: tuple[str, ...], value: Value) -> None:
    for fault in find_faults(with_value({}, path, value), AgentConfig):
        raise ConfigError(fault.message, key=dotted(fault.path), fix=fault.fix)


def _refuse_unknown(path: tuple[str, ...]) -> None:
    """Name the first key of a path that is not known, and what it was probably meant to be."""
    for size in range(1, len(path) + 1):
        known = form_at(path[:size], AgentConfig)
        if known is None:
            _hold_to_form(path[:size], {})
            raise ConfigError("there is nothing inside it", key=dotted(path[: size - 1]))


def _in_force(agent: Agent, path: KeyPath) -> object:
    """What holds for a list the file does not name: the risk profile's, or that of the sandbox's defaults."""
    around = {"permissions": agent.profile, "sandbox": agent.settings}.get(str(path[0]))
    return getattr(around, str(path[1]), None) if len(path) == 2 else None
