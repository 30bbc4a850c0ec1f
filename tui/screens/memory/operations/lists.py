"""What can be done with lists, also as sets."""

from __future__ import annotations

from tui.figures import counted
from tui.screens.memory.changes.doing import Outcome, Subject, Values
from tui.screens.memory.items import Item
from tui.screens.memory.operations.keys import change_key, in_scope, namespace_of, shown, take_out
from tui.screens.memory.operations.operation import KEY, TTL, VALUE, VALUES, Operation, Parameter, read_whole
from tui.screens.memory.places import Place

_FIRST, _LAST = -1, 1

_INDEX = Parameter("index", "Index", "from 0; negative from the end", read_whole, begin=lambda _: "0")
_END = Parameter("end", "Which", read=int, options=((str(_LAST), "the last"), (str(_FIRST), "the first")))
_SKIP = Parameter("skip", "Skip", "how many items first", read_whole, begin=lambda _: "0")
_LIMIT = Parameter("limit", "Show", "at most how many items", read_whole, begin=lambda _: "20")
_PAGE = Parameter("page", "Page", "counted from 1", read_whole, begin=lambda _: "1")
_SIZE = Parameter("size", "Page size", "items a page", read_whole, begin=lambda _: "20")


def _on_list(place: Place, item: Item | None) -> bool:
    return in_scope(place, item) and item is not None and item.type.startswith("list")


def _may_be_list(place: Place, item: Item | None) -> bool:
    return in_scope(place, item)


def _taken(typed: Values, count: int) -> str:
    return f"{counted(count, 'item')} taken out of {typed['key']}"


_push = change_key(
    "push",
    lambda keys, typed: keys.push(typed["key"], *typed["values"], ttl=typed["ttl"]),
    lambda typed, length: f"{typed['key']} has {counted(length, 'item')}",
)
_add = change_key(
    "add-to-set",
    lambda keys, typed: keys.add_to_set(typed["key"], *typed["values"], ttl=typed["ttl"]),
    lambda typed, count: f"{counted(count, 'item')} added to {typed['key']}",
)
_pop = take_out(
    "pop",
    lambda keys, typed: keys.pop(typed["key"], typed["end"]),
    lambda typed: f"an item is taken out of {typed['key']}",
)
_pull = change_key("pull", lambda keys, typed: keys.pull(typed["key"], typed["value"]), _taken)
_pull_all = change_key("pull-all", lambda keys, typed: keys.pull_all(typed["key"], typed["values"]), _taken)
_item_set = change_key(
    "array-set",
    lambda keys, typed: keys.array_set(typed["key"], typed["index"], typed["value"]),
    lambda typed, _: f"item {typed['index']} of {typed['key']} is replaced",
)


async def _item(subject: Subject, values: Values) -> Outcome:
    return Outcome("", [shown(await namespace_of(subject).array_get(values["key"], values["index"]))])


async def _slice(subject: Subject, values: Values) -> Outcome:
    items = await namespace_of(subject).array_slice(values["key"], values["skip"], values["limit"])
    return Outcome(counted(len(items), "item"), [shown(item) for item in items])


async def _page(subject: Subject, values: Values) -> Outcome:
    items = await namespace_of(subject).array_page(values["key"], values["page"], values["size"])
    return Outcome(counted(len(items), "item"), [shown(item) for item in items])


OPERATIONS = (
    Operation("push", "append", "Append items; a missing list is made", _push, _may_be_list, (KEY, VALUES, TTL)),
    Operation("add-to-set", "add to set", "Append the items it does not have", _add, _may_be_list, (KEY, VALUES, TTL)),
    Operation("pop", "pop", "Take out the last or the first item", _pop, _on_list, (KEY, _END)),
    Operation("pull", "pull", "Take out every item equal to a value", _pull, _on_list, (KEY, VALUE)),
    Operation("pull-all", "pull many", "Take out every item equal to one of some", _pull_all, _on_list, (KEY, VALUES)),
    Operation("array-set", "replace item", "Replace one item", _item_set, _on_list, (KEY, _INDEX, VALUE)),
    Operation("array-get", "read item", "Show one item", _item, _on_list, (KEY, _INDEX), harmless=True),
    Operation("array-slice", "read items", "Show some items", _slice, _on_list, (KEY, _SKIP, _LIMIT), harmless=True),
    Operation("array-page", "read page", "Show a page of items", _page, _on_list, (KEY, _PAGE, _SIZE), harmless=True),
)
