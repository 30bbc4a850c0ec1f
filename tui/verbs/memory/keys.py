"""Verbs on single keys, many keys and counters."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from services.errors import PinfoldError
from tui.figures import duration, size
from tui.verbs.call import Call, verb
from tui.verbs.memory.arguments import (
    FAILED,
    NUMBERS,
    changing,
    confirmed,
    key_argument,
    opened,
    print_count,
    print_value,
    read_object,
    read_ttl,
    read_value,
    scope_argument,
    text_option,
    ttl_option,
)
from tui.verbs.memory.documents import (
    CountDocument,
    FilledDocument,
    KeyDocument,
    StatsDocument,
    ValueDocument,
    previewed,
)
from tui.verbs.table import Cell, Column

if TYPE_CHECKING:
    from services.memory import Entry, Json, Scope

_KEYS = (
    Column("KEY", cut="middle"),
    Column("KIND", spare=2),
    Column("SIZE", right=True, spare=1),
    Column("LEFT", right=True),
    Column("VALUE", cut="end", spare=3),
)
_PAGE = 1000
_SECOND = 1_000_000_000
_LASTING = ("user", "team")


@click.command("get")
@verb
@scope_argument
@key_argument
async def get_key(call: Call, scope: Scope, key: str) -> int:
    """Print the value of a key; exits 1 when there is none."""
    async with opened(call, scope) as namespace:
        value = await namespace.get(key)
    return print_value(call, scope, key, value)


@click.command("get-many")
@verb
@scope_argument
@click.argument("keys", nargs=-1, required=True)
async def get_many(call: Call, scope: Scope, keys: tuple[str, ...]) -> None:
    """Print the values of many keys as one JSON object; null where there is none."""
    async with opened(call, scope) as namespace:
        values = await namespace.get_many(keys)
    _print_filled(call, scope, values)


@click.command("set", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("value")
@ttl_option
@text_option
async def set_key(call: Call, scope: Scope, key: str, value: str, ttl: str | None, as_text: bool) -> None:
    """Store a value over whatever is there."""
    parsed = read_value(value, as_text=as_text)
    async with changing(call, scope, "set", key) as namespace:
        await namespace.set(key, parsed, read_ttl(ttl))
    if call.json:
        call.printer.document(ValueDocument(str(scope), key, True, parsed))


@click.command("set-many")
@verb
@scope_argument
@click.argument("values", metavar="OBJECT")
@ttl_option
async def set_many(call: Call, scope: Scope, values: str, ttl: str | None) -> None:
    """Store the members of a JSON object as keys, all or none."""
    parsed = read_object(values)
    async with changing(call, scope, "set-many") as namespace:
        await namespace.set_many(parsed, read_ttl(ttl))
    print_count(call, scope, len(parsed))


@click.command("get-or-set", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("value")
@ttl_option
@text_option
async def get_or_set(call: Call, scope: Scope, key: str, value: str, ttl: str | None, as_text: bool) -> int:
    """Print the value of a key; where there is none, store this one first."""
    parsed = read_value(value, as_text=as_text)
    async with changing(call, scope, "get-or-set", key) as namespace:
        found = await namespace.get_or_set(key, lambda _: parsed, read_ttl(ttl))
    return print_value(call, scope, key, found)


@click.command("get-or-set-many")
@verb
@scope_argument
@click.argument("values", metavar="OBJECT")
@ttl_option
async def get_or_set_many(call: Call, scope: Scope, values: str, ttl: str | None) -> None:
    """Print the values of the keys of a JSON object; where there is none, store the object's first."""
    parsed = read_object(values)
    async with changing(call, scope, "get-or-set-many") as namespace:
        filled = await namespace.get_or_set_many(parsed, lambda key: parsed[key], read_ttl(ttl))
    if filled.errors:
        raise ExceptionGroup("not stored", list(filled.errors.values()))
    _print_filled(call, scope, filled.values)


@click.command("get-del")
@verb
@scope_argument
@key_argument
async def get_delete(call: Call, scope: Scope, key: str) -> int:
    """Print the value of a key and delete it; of several who try, one gets it."""
    async with changing(call, scope, "get-del", key) as namespace:
        value = await namespace.get_delete(key)
    return print_value(call, scope, key, value)


@click.command("has")
@verb
@scope_argument
@key_argument
async def has_key(call: Call, scope: Scope, key: str) -> int:
    """Tell whether a key is there; exits 1 when it is not."""
    async with opened(call, scope) as namespace:
        entry = await namespace.entry(key)
    if call.json:
        call.printer.document(None if entry is None else KeyDocument.of(entry, reveal=False))
    else:
        call.printer.line("no" if entry is None else "yes")
    return FAILED if entry is None else 0


@click.command("del")
@verb
@scope_argument
@click.argument("keys", nargs=-1, required=True)
async def delete_keys(call: Call, scope: Scope, keys: tuple[str, ...]) -> None:
    """Delete keys, in which * means nothing, and print how many were there."""
    async with changing(call, scope, "del", " ".join(keys)) as namespace:
        count = await namespace.delete_many(keys)
    print_count(call, scope, count)


@click.command("del-matching")
@verb
@scope_argument
@click.argument("pattern")
async def delete_matching(call: Call, scope: Scope, pattern: str) -> None:
    """Delete the keys a pattern matches, * being any text, and print how many those were."""
    async with changing(call, scope, "del-matching", pattern) as namespace:
        count = await namespace.delete_matching(pattern)
    print_count(call, scope, count)


@click.command("keys")
@verb
@scope_argument
@click.argument("pattern", default="")
@click.option("--after", metavar="KEY", default="", help="Only keys behind this one, for paging.")
@click.option("--limit", type=click.IntRange(min=1), help="At most N keys.")
@click.option("--reveal", is_flag=True, help="Show secrets as they are.")
async def list_keys(call: Call, scope: Scope, pattern: str, after: str, limit: int | None, reveal: bool) -> None:
    """List keys, sorted, with kind, size, time left and the beginning of the value; * in a pattern is any text."""
    found: list[Entry] = []
    async with opened(call, scope) as namespace:
        while limit is None or len(found) < limit:
            wanted = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await namespace.entries(pattern, after=after, limit=wanted)
            found += page
            if len(page) < wanted:
                break
            after = page[-1].key
    if call.json:
        call.printer.document([KeyDocument.of(entry, reveal=reveal) for entry in found])
    elif found:
        call.printer.table(_KEYS, [_row(entry, reveal=reveal) for entry in found])


@click.command("count")
@verb
@scope_argument
@click.argument("pattern", default="")
async def count_keys(call: Call, scope: Scope, pattern: str) -> None:
    """Count the keys, or those a pattern matches."""
    async with opened(call, scope) as namespace:
        print_count(call, scope, await namespace.count(pattern))


@click.command("scopes")
@verb
@click.argument("kinds", nargs=-1, type=click.Choice(["user", "team", "chat", "context"]), metavar="[KIND]...")
async def list_scopes(call: Call, kinds: tuple[str, ...]) -> None:
    """List the scopes that have keys, and how many."""
    from services.memory import Scope, ScopeKind

    rows: list[tuple[Scope, int]] = []
    async with call.pinfold(supervise=False) as pinfold:
        for kind in map(ScopeKind, kinds or tuple(ScopeKind)):
            after = ""
            while ids := await pinfold.memory.scopes.ids(kind, after=after):
                scopes = [Scope(kind, scope_id) for scope_id in ids]
                rows += [(scope, await pinfold.memory.namespace(scope).count()) for scope in scopes]
                after = ids[-1]
    if call.json:
        call.printer.document([CountDocument(str(scope), count) for scope, count in rows])
    elif rows:
        columns = (Column("SCOPE", cut="middle"), Column("KEYS", right=True))
        call.printer.table(columns, [[Cell(str(scope)), Cell(str(count))] for scope, count in rows])


@click.command("expire")
@verb
@scope_argument
@key_argument
@click.argument("ttl", metavar="TIME")
async def expire_key(call: Call, scope: Scope, key: str, ttl: str) -> None:
    """Change how long a key lives from now on."""
    async with changing(call, scope, "expire", key) as namespace:
        await namespace.expire(key, read_ttl(ttl))
        entry = await namespace.entry(key)
    if call.json and entry is not None:
        call.printer.document(KeyDocument.of(entry, reveal=False))


@click.command("incr", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("delta", type=int, default=1)
@ttl_option
async def increase(call: Call, scope: Scope, key: str, delta: int, ttl: str | None) -> None:
    """Add to an integer and print the sum; a missing one starts at 0."""
    async with changing(call, scope, "incr", key) as namespace:
        value = await namespace.incr(key, delta, read_ttl(ttl))
    print_value(call, scope, key, value)


@click.command("decr", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("delta", type=int, default=1)
@ttl_option
async def decrease(call: Call, scope: Scope, key: str, delta: int, ttl: str | None) -> None:
    """Subtract from an integer and print the difference."""
    async with changing(call, scope, "decr", key) as namespace:
        value = await namespace.decr(key, delta, read_ttl(ttl))
    print_value(call, scope, key, value)


@click.command("stats")
@verb
@scope_argument
async def show_stats(call: Call, scope: Scope) -> None:
    """Count the keys of a scope and name the file they are in."""
    async with opened(call, scope) as namespace:
        stats = await namespace.stats()
    if call.json:
        call.printer.document(StatsDocument(str(scope), stats.scope.value, stats.id, stats.keys, stats.store))
    else:
        call.printer.fields([str(scope), f"{stats.keys} keys", stats.store])


@click.command("clear")
@verb
@scope_argument
@click.option("--yes", is_flag=True, help="Clear a user's or a team's keys without being asked.")
async def clear_scope(call: Call, scope: Scope, yes: bool) -> None:
    """Delete every key of one scope and print how many those were; asks before it clears a user or a team."""
    if scope.kind in _LASTING and not yes:
        async with opened(call, scope) as namespace:
            count = await namespace.count()
        if not confirmed(call, f"Delete {count:,} keys of {scope} for good?", yes=False):
            raise PinfoldError(f"nothing was deleted of {scope}", fix="Add --yes to delete its keys for good.")
    async with changing(call, scope, "clear") as namespace:
        count = await namespace.clear()
    print_count(call, scope, count)


def _print_filled(call: Call, scope: Scope, values: dict[str, Json]) -> None:
    from services.memory import MISSING

    missing = tuple(key for key, value in values.items() if value is MISSING)
    shown = {key: None if value is MISSING else value for key, value in values.items()}
    call.printer.document(FilledDocument(str(scope), shown, missing) if call.json else shown)


def _row(entry: Entry, *, reveal: bool) -> list[Cell]:
    left = None if entry.expires_at is None else (entry.expires_at - time.time_ns()) / _SECOND
    return [
        Cell(entry.key),
        Cell(f"list of {entry.length}" if entry.kind == "list" else entry.kind),
        Cell(size(entry.size)),
        Cell("never" if left is None else duration(left)),
        Cell(previewed(entry, reveal=reveal), "muted"),
    ]


VERBS = (
    get_key,
    get_many,
    set_key,
    set_many,
    get_or_set,
    get_or_set_many,
    get_delete,
    has_key,
    delete_keys,
    delete_matching,
    list_keys,
    count_keys,
    list_scopes,
    expire_key,
    increase,
    decrease,
    show_stats,
    clear_scope,
)
"""In the order of the help."""
