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


def change_key(
    verb: str, call: Callable[[Recorded, Values], Awaitable[Any]], said: Callable[[Values, Any], str]
) -> Callable[[Subject, Values], Awaitable[Outcome]]:
    """What changes the key that is typed.

    Args:
        verb: What is done, as the command line calls it.
        call: Does it with what was typed.
        said: Tells it of what was typed and what the call returned.
    """

    async def run(subject: Subject, values: Values) -> Outcome:
        key = values["key"]
        result, undo = await change_keys(
            subject.pinfold, scope_of(subject), [key], verb, lambda keys: call(keys, values)
        )
        return Outcome(said(values, result), undo=undo, item=key)

    return run


def take_out(
    verb: str, call: Callable[[Recorded, Values], Awaitable[Any]], said: Callable[[Values], str]
) -> Callable[[Subject, Values], Awaitable[Outcome]]:
    """What changes the key that is typed, and shows what the call returned; see `change_key`."""
    change = change_key(verb, call, lambda _, taken: "missing" if taken is MISSING else shown(taken))

    async def run(subject: Subject, values: Values) -> Outcome:
        outcome = await change(subject, values)
        return Outcome(said(values), [outcome.said], outcome.undo)

    return run


async def change_many(
    subject: Subject,
    verb: str,
    watched: Sequence[str],
    call: Callable[[Recorded], Awaitable[Any]],
    said: Callable[[Any], str],
) -> Outcome:
    """Change several keys of the scope that is shown."""
    result, undo = await change_keys(subject.pinfold, scope_of(subject), watched, verb, call)
    return Outcome(said(result), undo=undo)


_set = change_key(
    "set",
    lambda keys, typed: keys.set(typed["key"], typed["value"], typed["ttl"]),
    lambda typed, _: f"{typed['key']} is set",
)
_expire = change_key(
    "expire",
    lambda keys, typed: keys.expire(typed["key"], typed["ttl"]),
    lambda typed, _: f"{typed['key']} has a new time to live",
)
_incr = change_key(
    "incr",
    lambda keys, typed: keys.incr(typed["key"], typed["amount"], typed["ttl"]),
    lambda typed, total: f"{typed['key']} is {total:,}",
)
_decr = change_key(
    "decr",
    lambda keys, typed: keys.decr(typed["key"], typed["amount"], typed["ttl"]),
    lambda typed, total: f"{typed['key']} is {total:,}",
)
_take = take_out(
    "get-del", lambda keys, typed: keys.get_delete(typed["key"]), lambda typed: f"{typed['key']} is taken out"
)
_fill = change_key(
    "get-or-set",
    lambda keys, typed: keys.get_or_set(typed["key"], lambda _: typed["value"], typed["ttl"]),
    lambda typed, _: f"{typed['key']} is there already",
)


async def _set_in(subject: Subject, values: Values) -> Outcome:
    assert isinstance(subject.place, ScopesOf)
    there = ScopeKeys(Scope(subject.place.kind, values["id"]))
    outcome = await _set(replace(subject, place=there), values)
    return replace(outcome, place=there)


async def _set_many(subject: Subject, values: Values) -> Outcome:
    many = values["values"]
    return await change_many(
        subject,
        "set-many",
        list(many),
        lambda keys: keys.set_many(many, values["ttl"]),
        lambda _: f"{counted(len(many), 'key')} set",
    )


async def _get_or_set(subject: Subject, values: Values) -> Outcome:
    outcome = await _fill(subject, values)
    return outcome if outcome.undo is None else replace(outcome, said=f"{values['key']} was missing and is set")


async def _get_or_set_many(subject: Subject, values: Values) -> Outcome:
    many = values["values"]
    return await change_many(
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
    return await change_many(
        subject, "del", names, lambda keys: keys.delete_many(names), lambda count: f"{counted(count, 'key')} deleted"
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
