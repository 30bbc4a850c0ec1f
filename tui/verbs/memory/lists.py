"""Verbs on lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.verbs.call import Call, verb
from tui.verbs.memory.arguments import (
    NUMBERS,
    changing,
    key_argument,
    opened,
    print_count,
    print_items,
    print_value,
    read_ttl,
    read_value,
    scope_argument,
    text_option,
    ttl_option,
)

if TYPE_CHECKING:
    from services.memory import Scope

values_argument = click.argument("values", metavar="VALUE...", nargs=-1, required=True)


@click.command("push")
@verb
@scope_argument
@key_argument
@values_argument
@ttl_option
@text_option
async def push(call: Call, scope: Scope, key: str, values: tuple[str, ...], ttl: str | None, as_text: bool) -> None:
    """Append values to a list, made when missing, and print its new length."""
    parsed = [read_value(value, as_text=as_text) for value in values]
    async with changing(call, scope, "push", key) as namespace:
        length = await namespace.push(key, *parsed, ttl=read_ttl(ttl))
    print_count(call, scope, length, key)


@click.command("add-to-set")
@verb
@scope_argument
@key_argument
@values_argument
@ttl_option
@text_option
async def add_to_set(
    call: Call, scope: Scope, key: str, values: tuple[str, ...], ttl: str | None, as_text: bool
) -> None:
    """Append those values that a list does not have, and print how many those were."""
    parsed = [read_value(value, as_text=as_text) for value in values]
    async with changing(call, scope, "add-to-set", key) as namespace:
        count = await namespace.add_to_set(key, *parsed, ttl=read_ttl(ttl))
    print_count(call, scope, count, key)


@click.command("pop")
@verb
@scope_argument
@key_argument
@click.option("--first", is_flag=True, help="Take the first item instead of the last.")
async def pop(call: Call, scope: Scope, key: str, first: bool) -> None:
    """Take the last item out of a list and print it."""
    async with changing(call, scope, "pop", key) as namespace:
        value = await namespace.pop(key, -1 if first else 1)
    print_value(call, scope, key, value)


@click.command("pull", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("value")
@text_option
async def pull(call: Call, scope: Scope, key: str, value: str, as_text: bool) -> None:
    """Take every item equal to a value out of a list, and print how many those were."""
    parsed = read_value(value, as_text=as_text)
    async with changing(call, scope, "pull", key) as namespace:
        count = await namespace.pull(key, parsed)
    print_count(call, scope, count, key)


@click.command("pull-all")
@verb
@scope_argument
@key_argument
@values_argument
@text_option
async def pull_all(call: Call, scope: Scope, key: str, values: tuple[str, ...], as_text: bool) -> None:
    """Take every item equal to one of the values out of a list, and print how many those were."""
    parsed = [read_value(value, as_text=as_text) for value in values]
    async with changing(call, scope, "pull-all", key) as namespace:
        count = await namespace.pull_all(key, parsed)
    print_count(call, scope, count, key)


@click.command("array-len")
@verb
@scope_argument
@key_argument
async def array_len(call: Call, scope: Scope, key: str) -> None:
    """Count the items of a list; 0 when it is missing."""
    async with opened(call, scope) as namespace:
        print_count(call, scope, await namespace.array_len(key), key)


@click.command("array-get", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("index", type=int)
async def array_get(call: Call, scope: Scope, key: str, index: int) -> None:
    """Print one item of a list; the index counts from 0, a negative one from the end."""
    async with opened(call, scope) as namespace:
        value = await namespace.array_get(key, index)
    print_value(call, scope, key, value)


@click.command("array-set", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("index", type=int)
@click.argument("value")
@text_option
async def array_set(call: Call, scope: Scope, key: str, index: int, value: str, as_text: bool) -> None:
    """Replace one item of a list."""
    parsed = read_value(value, as_text=as_text)
    async with changing(call, scope, "array-set", key) as namespace:
        await namespace.array_set(key, index, parsed)
    if call.json:
        print_value(call, scope, key, parsed)


@click.command("array-slice", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("skip", type=int)
@click.argument("limit", type=int)
async def array_slice(call: Call, scope: Scope, key: str, skip: int, limit: int) -> None:
    """Print at most LIMIT items of a list after the first SKIP, a line of JSON each."""
    async with opened(call, scope) as namespace:
        print_items(call, scope, key, await namespace.array_slice(key, skip, limit))


@click.command("array-page", context_settings=NUMBERS)
@verb
@scope_argument
@key_argument
@click.argument("page", type=int)
@click.argument("size", type=int)
async def array_page(call: Call, scope: Scope, key: str, page: int, size: int) -> None:
    """Print one page of a list, a line of JSON an item; pages count from 1."""
    async with opened(call, scope) as namespace:
        print_items(call, scope, key, await namespace.array_page(key, page, size))


@click.command("array-all")
@verb
@scope_argument
@key_argument
async def array_all(call: Call, scope: Scope, key: str) -> None:
    """Print all items of a list, a line of JSON each."""
    async with opened(call, scope) as namespace:
        print_items(call, scope, key, await namespace.array_all(key))


VERBS = (
    push,
    pop,
    pull,
    pull_all,
    add_to_set,
    array_get,
    array_set,
    array_slice,
    array_page,
    array_all,
    array_len,
)
"""In the order of the help."""
