"""What can be done with keys: single ones, many, and counters."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from services.memory import MISSING, Scope
from tui.figures import counted
from tui.screens.memory.changes.doing import Outcome, Subject, Values, change_keys
from tui.screens.memory.editing.writing import pretty
from tui.screens.memory.items import Item
from tui.screens.memory.operations.operation import AMOUNT, KEY, NEW_KEY, TTL, VALUE, Operation, Parameter, read_object
from tui.screens.memory.places import Place, ScopeKeys, ScopesOf

if TYPE_CHECKING:
    from services.memory import Namespace, Recorded

_ID = Parameter("id", "Id", "any text, such as 42")
_OBJECT = Parameter("values", "Values", 'a JSON object: {"KEY": VALUE, …}', read_object)
_KEYS = Parameter("keys", "Keys", 'a JSON list: ["a", "b"], or one key')
_PATTERN = Parameter("pattern", "Pattern", "* is any text; empty: every key")


def in_scope(place: Place, _: Item | None) -> bool:
    """Whether keys are shown."""
    return isinstance(place, ScopeKeys)


def on_key(place: Place, item: Item | None) -> bool:
    """Whether the cursor is on a key."""
    return isinstance(place, ScopeKeys) and item is not None


def _among_scopes(place: Place, _: Item | None) -> bool:
    return isinstance(place, ScopesOf)


def _on_counter(place: Place, item: Item | None) -> bool:
    return in_scope(place, item) and (item is None or item.type == "integer")


def scope_of(subject: Subject) -> Scope:
    """The scope that is shown."""
    assert isinstance(subject.place, ScopeKeys)
    return subject.place.scope


def namespace_of(subject: Subject) -> Namespace:
    """The keys that are shown."""
    return subject.pinfold.memory.namespace(scope_of(subject))


async def changed(
    subject: Subject,
    verb: str,
    watched: Sequence[str] | str,
    call: Callable[[Recorded], Awaitable[Any]],
    said: Callable[[Any], str],
    item: str = "",
) -> Outcome:
    """Change keys of the scope that is shown."""
    result, undo = await change_keys(subject.pinfold, scope_of(subject), watched, verb, call)
    return Outcome(said(result), undo=undo, item=item)


async def _set(subject: Subject, values: Values) -> Outcome:
    key = values["key"]
    return await changed(
        subject,
        "set",
        [key],
        lambda keys: keys.set(key, values["value"], values["ttl"]),
        lambda _: f"{key} is set",
        key,
    )


async def _set_in(subject: Subject, values: Values) -> Outcome:
    assert isinstance(subject.place, ScopesOf)
    there = ScopeKeys(Scope(subject.place.kind, values["id"]))
    outcome = await _set(replace(subject, place=there), values)
    return replace(outcome, place=there)


async def _set_many(subject: Subject, values: Values) -> Outcome:
    many = values["values"]
    return await changed(
        subject,
        "set-many",
        list(many),
        lambda keys: keys.set_many(many, values["ttl"]),
        lambda _: f"{counted(len(many), 'key')} set",
    )


async def _get_or_set(subject: Subject, values: Values) -> Outcome:
    key = values["key"]
    outcome = await changed(
        subject,
        "get-or-set",
        [key],
        lambda keys: keys.get_or_set(key, lambda _: values["value"], values["ttl"]),
        lambda _: "",
        key,
    )
    said = f"{key} was missing and is set" if outcome.undo is not None else f"{key} is there already"
    return Outcome(said, undo=outcome.undo, item=key)


async def _get_or_set_many(subject: Subject, values: Values) -> Outcome:
    many = values["values"]
    return await changed(
        subject,
        "get-or-set-many",
        list(many),
        lambda keys: keys.get_or_set_many(many, lambda key: many[key], values["ttl"]),
        lambda filled: f"{counted(len(filled.values), 'key')} there now",
    )


async def _get_many(subject: Subject, values: Values) -> Outcome:
    found = await namespace_of(subject).get_many(_names(values["keys"]))
    lines = [f"{key}: {'missing' if value is MISSING else shown(value)}" for key, value in found.items()]
    return Outcome(counted(len(lines), "key"), lines)


async def _delete_many(subject: Subject, values: Values) -> Outcome:
    names = _names(values["keys"])
    return await changed(
        subject, "del", names, lambda keys: keys.delete_many(names), lambda count: f"{counted(count, 'key')} deleted"
    )


async def _take(subject: Subject, values: Values) -> Outcome:
    key = values["key"]
    taken, undo = await change_keys(
        subject.pinfold, scope_of(subject), [key], "get-del", lambda keys: keys.get_delete(key)
    )
    return Outcome(f"{key} is taken out", ["missing" if taken is MISSING else shown(taken)], undo)


async def _expire(subject: Subject, values: Values) -> Outcome:
    key = values["key"]
    return await changed(
        subject,
        "expire",
        [key],
        lambda keys: keys.expire(key, values["ttl"]),
        lambda _: f"{key} has a new time to live",
        key,
    )


async def _incr(subject: Subject, values: Values) -> Outcome:
    key, amount = values["key"], values["amount"]
    return await changed(
        subject,
        "incr",
        [key],
        lambda keys: keys.incr(key, amount, values["ttl"]),
        lambda total: f"{key} is {total:,}",
        key,
    )


async def _decr(subject: Subject, values: Values) -> Outcome:
    key, amount = values["key"], values["amount"]
    return await changed(
        subject,
        "decr",
        [key],
        lambda keys: keys.decr(key, amount, values["ttl"]),
        lambda total: f"{key} is {total:,}",
        key,
    )


async def _has(subject: Subject, values: Values) -> Outcome:
    there = await namespace_of(subject).has(values["key"])
    return Outcome("", ["yes, it is there" if there else "no, it is missing"])


async def _count(subject: Subject, values: Values) -> Outcome:
    return Outcome("", [counted(await namespace_of(subject).count(values["pattern"]), "key")])


async def _stats(subject: Subject, _: Values) -> Outcome:
    stats = await namespace_of(subject).stats()
    return Outcome("", [f"{stats.scope}:{stats.id}", counted(stats.keys, "key"), f"in {stats.store}"])


def _names(typed: str) -> list[str]:
    from tui.screens.memory.operations.operation import read_values

    return [str(name) for name in read_values(typed)]


def shown(value: Any) -> str:  # noqa: ANN401
    """A value in lines."""
    import msgspec

    return value if isinstance(value, str) else pretty(msgspec.json.encode(value).decode())


SET = Operation("set", "set a key", "Store a value over whatever is there", _set, in_scope, (NEW_KEY, VALUE, TTL))
SET_IN = Operation(
    "set-in",
    "set a key",
    "Store a value in a scope that need not have any key yet",
    _set_in,
    _among_scopes,
    (_ID, NEW_KEY, VALUE, TTL),
)
EXPIRE = Operation("expire", "time to live", "Change how long a key lives from now on", _expire, on_key, (KEY, TTL))

OPERATIONS = (
    SET_IN,
    SET,
    Operation("set-many", "set many keys", "Store many values, all or none", _set_many, in_scope, (_OBJECT, TTL)),
    Operation(
        "get-or-set",
        "set if missing",
        "Store a value where there is none",
        _get_or_set,
        in_scope,
        (NEW_KEY, VALUE, TTL),
    ),
    Operation(
        "get-or-set-many",
        "set many if missing",
        "Store those of many values that are missing",
        _get_or_set_many,
        in_scope,
        (_OBJECT, TTL),
    ),
    Operation(
        "get-many", "read many keys", "Show the values of many keys", _get_many, in_scope, (_KEYS,), harmless=True
    ),
    Operation("del", "delete keys", "Delete keys by name, in which * means nothing", _delete_many, in_scope, (_KEYS,)),
    Operation("get-del", "take out", "Show a value and delete its key", _take, on_key, (KEY,)),
    EXPIRE,
    Operation(
        "incr", "count up", "Add to an integer; a missing one starts at 0", _incr, _on_counter, (KEY, AMOUNT, TTL)
    ),
    Operation("decr", "count down", "Subtract from an integer", _decr, _on_counter, (KEY, AMOUNT, TTL)),
    Operation("has", "is it there", "Tell whether a key is there", _has, in_scope, (KEY,), harmless=True),
    Operation("count", "count keys", "Count the keys of a pattern", _count, in_scope, (_PATTERN,), harmless=True),
    Operation("stats", "statistics", "Count the keys and name their file", _stats, in_scope, harmless=True),
)
