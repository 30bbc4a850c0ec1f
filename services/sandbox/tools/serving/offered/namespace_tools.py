"""The session's own chat and context, its user and its team as tools: keys with JSON values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from msgspec import Meta

from services.memory import MISSING
from services.sandbox.tools.grants import Grant
from services.sandbox.tools.serving.offered.tool import Arguments, Reach, Result, Run, Tool

ScopeName = Annotated[
    Literal["user", "team", "chat", "context"],
    Meta(
        description="Whose keys: chat (kept a day) or context (kept half an hour) of this session; user or team, where"
        " the operator granted one."
    ),
]
Key = Annotated[str, Meta(min_length=1, max_length=4096, description="Any text.")]
Value = Annotated[Any, Meta(description="Any JSON.")]
Values = Annotated[tuple[Any, ...], Meta(min_length=1, max_length=1000, description="Any JSON, in order.")]
TimeToLive = Annotated[
    float | str, Meta(description='Seconds, or a text such as "30m"; left out, the time usual for the scope.')
]


class KeyArguments(Arguments, frozen=True):
    """What tools on one key take."""

    scope: ScopeName
    key: Key


class SetArguments(KeyArguments, frozen=True):
    """What `namespace_set` takes."""

    value: Value
    ttl: TimeToLive | None = None


class KeysArguments(Arguments, frozen=True):
    """What `namespace_keys` takes."""

    scope: ScopeName
    pattern: Annotated[str, Meta(max_length=4096, description='"*" stands for any text; "" is every key.')] = ""
    after: Annotated[str, Meta(max_length=4096, description="Only keys behind this one.")] = ""
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many.")] = 100


class IncrArguments(KeyArguments, frozen=True):
    """What `namespace_incr` takes."""

    delta: Annotated[int, Meta(description="Below 0 subtracts.")] = 1


class ValuesArguments(KeyArguments, frozen=True):
    """What tools that add to a list take."""

    values: Values


class PullArguments(KeyArguments, frozen=True):
    """What `namespace_pull` takes."""

    value: Value


class PopArguments(KeyArguments, frozen=True):
    """What `namespace_pop` takes."""

    end: Annotated[Literal["last", "first"], Meta(description="Which item.")] = "last"


class ItemsArguments(KeyArguments, frozen=True):
    """What `namespace_items` takes."""

    skip: Annotated[int, Meta(ge=0, description="Leave out so many from the start.")] = 0
    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many.")] = 100


class Found(Result, frozen=True):
    """A value; `found` tells a stored null from nothing."""

    found: bool
    value: Any = None


class Keys(Result, frozen=True):
    """Keys, sorted."""

    keys: tuple[str, ...]


class Items(Result, frozen=True):
    """Items of a list."""

    items: tuple[Any, ...]


async def _get(reach: Reach, asked: KeyArguments) -> Found:
    value = await reach.namespace(asked.scope).get(asked.key)
    return Found(found=False) if value is MISSING else Found(True, value)


async def _set(reach: Reach, asked: SetArguments) -> str:
    await reach.namespace(asked.scope).set(asked.key, asked.value, asked.ttl)
    return "Stored."


async def _delete(reach: Reach, asked: KeyArguments) -> str:
    return "Deleted." if await reach.namespace(asked.scope).delete(asked.key) else "There was no such key."


async def _keys(reach: Reach, asked: KeysArguments) -> Keys:
    found = await reach.namespace(asked.scope).keys(asked.pattern, after=asked.after, limit=asked.limit)
    return Keys(tuple(found))


async def _incr(reach: Reach, asked: IncrArguments) -> str:
    return str(await reach.namespace(asked.scope).incr(asked.key, asked.delta))


async def _push(reach: Reach, asked: ValuesArguments) -> str:
    return f"{await reach.namespace(asked.scope).push(asked.key, *asked.values)} items."


async def _add_to_set(reach: Reach, asked: ValuesArguments) -> str:
    return f"{await reach.namespace(asked.scope).add_to_set(asked.key, *asked.values)} were new."


async def _pop(reach: Reach, asked: PopArguments) -> Found:
    return Found(True, await reach.namespace(asked.scope).pop(asked.key, 1 if asked.end == "last" else -1))


async def _pull(reach: Reach, asked: PullArguments) -> str:
    return f"{await reach.namespace(asked.scope).pull(asked.key, asked.value)} were taken out."


async def _items(reach: Reach, asked: ItemsArguments) -> Items:
    return Items(tuple(await reach.namespace(asked.scope).array_slice(asked.key, asked.skip, asked.limit)))


def namespace_tools() -> Iterable[Tool]:
    """The tools of namespaces."""

    def tool(name: str, purpose: str, arguments: type[Arguments], run: Run, *, acts: bool) -> Tool:
        return Tool(name, purpose, arguments, run, acts, wanted=_has_scopes)

    yield tool("namespace_get", "Read a value.", KeyArguments, _get, acts=False)
    yield tool("namespace_set", "Store a value over whatever is there.", SetArguments, _set, acts=True)
    yield tool("namespace_delete", "Delete one key.", KeyArguments, _delete, acts=True)
    yield tool("namespace_keys", "List keys, sorted.", KeysArguments, _keys, acts=False)
    yield tool(
        "namespace_incr", "Add to an integer, which starts at 0, and read the sum.", IncrArguments, _incr, acts=True
    )
    yield tool("namespace_push", "Add values at the end of a list.", ValuesArguments, _push, acts=True)
    yield tool(
        "namespace_add_to_set", "Add those values to a list that it lacks.", ValuesArguments, _add_to_set, acts=True
    )
    yield tool("namespace_pop", "Take the last or the first item out of a list.", PopArguments, _pop, acts=True)
    yield tool("namespace_pull", "Take every item equal to a value out of a list.", PullArguments, _pull, acts=True)
    yield tool("namespace_items", "Read items of a list.", ItemsArguments, _items, acts=False)


def _has_scopes(grant: Grant) -> bool:
    return bool(grant.scopes or grant.shared)
