"""Everything that can be done with what memory holds: what each operation is called, what it asks, what it fits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from services.errors import InputRefused
from tui.screens.memory.changes.doing import Outcome, Subject, Values
from tui.screens.memory.editing.writing import read_loosely
from tui.screens.memory.items import Item
from tui.screens.memory.places import Place


@dataclass(frozen=True)
class Parameter:
    """Something an operation asks for.

    Attributes:
        key: Names it in `Values`.
        label: A word.
        hint: What may be typed.
        read: Turns what is typed into the value; raises PinfoldError.
        begin: What stands there at first, for the row under the cursor; drawable or not.
        options: Values and labels to choose from instead of typing.
    """

    key: str
    label: str
    hint: str = ""
    read: Callable[[str], Any] = str
    begin: Callable[[Subject], str] = lambda _: ""
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Operation:
    """Something that can be done.

    Attributes:
        id: As the command line calls it.
        label: A few words.
        help: What it does, one clause.
        run: Does it.
        fits: Whether it makes sense for a place and the row under the cursor.
        parameters: What it asks for.
        harmless: It changes nothing.
    """

    id: str
    label: str
    help: str
    run: Callable[[Subject, Values], Awaitable[Outcome]]
    fits: Callable[[Place, Item | None], bool]
    parameters: Sequence[Parameter] = ()
    harmless: bool = False


def read_whole(typed: str) -> int:
    """Read a whole number.

    Raises:
        InputRefused: It is none.
    """
    try:
        return int(typed.strip() or "0")
    except ValueError as error:
        raise InputRefused(f"{typed[:40]!r} is no whole number") from error


def read_ttl(typed: str) -> float | str | None:
    """Read how long a key lives; nothing is the scope's own time."""
    text = typed.strip()
    try:
        return float(text) if text else None
    except ValueError:
        return text


def read_values(typed: str) -> list[Any]:
    """Read several values: a JSON list of them, or one.

    Raises:
        InputRefused: It looks like JSON and is none.
    """
    value = read_loosely(typed)
    return value if isinstance(value, list) else [value]


def read_object(typed: str) -> dict[str, Any]:
    """Read many values by key.

    Raises:
        InputRefused: It is no JSON object.
    """
    value = read_loosely(typed)
    if not isinstance(value, dict):
        raise InputRefused("many values are given as a JSON object", fix='Write {"KEY": VALUE, …}.')
    return value


def read_fraction(typed: str) -> float | None:
    """Read an importance; nothing leaves it to be estimated.

    Raises:
        InputRefused: It is no number.
    """
    try:
        return float(typed) if typed.strip() else None
    except ValueError as error:
        raise InputRefused(f"{typed[:40]!r} is no number") from error


KEY = Parameter("key", "Key", "any text", begin=lambda subject: subject.key)
NEW_KEY = Parameter("key", "Key", "any text")
VALUE = Parameter("value", "Value", 'JSON, or a text: 3, true, {"a": 1}, hello', read_loosely)
VALUES = Parameter("values", "Values", "a JSON list of values, or one value", read_values)
TTL = Parameter("ttl", "Lives", "30m, 2h, never; empty: the scope's own time", read_ttl)
AMOUNT = Parameter("amount", "Amount", "a whole number", read_whole, begin=lambda _: "1")
