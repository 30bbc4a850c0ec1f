"""What the verbs of `pinfold memory` are given, and how they print values."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from services.errors import InputRefused, NothingThere
from tui.memory_log import log
from tui.text import safe
from tui.verbs.call import Call
from tui.verbs.memory.documents import CountDocument, ItemsDocument, value_document

if TYPE_CHECKING:
    from services.memory import Json, Namespace, Scope

FAILED = 1
STANDARD_INPUT = "-"
NUMBERS = {"ignore_unknown_options": True}
"""Settings of a verb whose arguments may be negative numbers; those with any number of them need `--` before one."""

_NO_JSON = ("NaN", "Infinity", "-Infinity")
_BEGINS_JSON = ("{", "[", '"')


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def read_scope(_: click.Context, parameter: click.Parameter, text: str | tuple[str, ...] | None) -> object:
    """Turn `user:42` into a scope, or several such texts into several; what is none is wrong usage."""
    from services.memory import Scope

    try:
        if isinstance(text, tuple):
            return tuple(map(Scope.parse, text))
        return None if text is None else Scope.parse(text)
    except InputRefused as error:
        raise click.BadParameter(safe(str(error)), param=parameter) from error


scope_argument = click.argument("scope", callback=read_scope, metavar="SCOPE:ID")
key_argument = click.argument("key")
ttl_option = click.option(
    "--ttl", metavar="TIME", help="How long it lives: seconds, 30m, never; else the scope's default."
)
text_option = click.option(
    "--text", "as_text", is_flag=True, help="Take what is given as text, whatever it looks like."
)


def read_ttl(ttl: str | None) -> float | str | None:
    """Read a time: a number is seconds."""
    if ttl is None:
        return None
    try:
        return float(ttl)
    except ValueError:
        return ttl


def read_value(text: str, *, as_text: bool = False) -> Json:
    """Read a value: JSON, or a text that does not look like any.

    Raises:
        InputRefused: It looks like JSON and is none, or cannot be kept.
    """
    from services.memory import VALUE_LIMIT, from_json

    if text == STANDARD_INPUT:
        data = sys.stdin.buffer.read(4 * VALUE_LIMIT + 1)
        text = data.decode(errors="surrogateescape").removesuffix("\n")
    if as_text:
        return text
    try:
        return from_json(text)
    except InputRefused as error:
        looks_like_json = text.lstrip().startswith(_BEGINS_JSON) or text.strip() in _NO_JSON
        if looks_like_json or "64 bits" in error.why or "nested" in error.why or error.what != "the value is not JSON":
            fix = "Add --text to store it as text." if looks_like_json else error.fix
            raise InputRefused(error.what, why=error.why, fix=fix) from error
        return text


def read_object(text: str) -> dict[str, Json]:
    """Read many values by key, as a JSON object.

    Raises:
        InputRefused: It is something else.
    """
    value = read_value(text)
    if not isinstance(value, dict):
        raise InputRefused("many values are given as a JSON object", fix='Write {"KEY": VALUE, …}, or - to read it.')
    return value


@asynccontextmanager
async def opened(call: Call, scope: Scope) -> AsyncIterator[Namespace]:
    """Open the services and hand out a scope's keys."""
    async with call.pinfold(supervise=False) as pinfold:
        yield pinfold.memory.namespace(scope)


@asynccontextmanager
async def changing(call: Call, scope: Scope, verb: str, key: str = "") -> AsyncIterator[Namespace]:
    """Do the same, and log the change once the block is through; values are never logged."""
    async with call.pinfold(supervise=False) as pinfold:
        yield pinfold.memory.namespace(scope)
        await log(pinfold, verb, f"{scope} {key}".rstrip())


def print_value(call: Call, scope: Scope, key: str, value: Json) -> int:
    """Print a value, text as it is and anything else as JSON; 1 where there is none."""
    from services.memory import MISSING

    if call.json:
        call.printer.document(value_document(scope, key, value))
    elif value is MISSING:
        raise NothingThere(f"nothing is stored under {key!r} of {scope}")
    elif not isinstance(value, str):
        call.printer.document(value)
    elif call.printer.terminal:
        for line in value.split("\n"):
            call.printer.line(line)
    else:
        sys.stdout.write(f"{value}\n")
    return FAILED if value is MISSING else 0


def print_count(call: Call, scope: Scope, count: int, key: str | None = None) -> None:
    """Print a number."""
    if call.json:
        call.printer.document(CountDocument(str(scope), count, key))
    else:
        call.printer.line(str(count))


def print_items(call: Call, scope: Scope, key: str, items: list[Json]) -> None:
    """Print the items of a list, a line of JSON each."""
    if call.json:
        call.printer.document(ItemsDocument(str(scope), key, items))
    else:
        call.printer.json_lines(items)


def confirmed(call: Call, question: str, *, yes: bool) -> bool:
    """Ask when somebody is there to answer; else only `--yes` will do."""
    if yes:
        return True
    if call.json or not (sys.stdin.isatty() and call.printer.terminal):
        return False
    return click.confirm(question)
