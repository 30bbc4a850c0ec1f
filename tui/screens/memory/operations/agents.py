"""What can be done with what an agent stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from services.errors import NothingThere
from services.memory import CONVERSATION, CORE, DAILY, Draft, Retention, Row
from tui.figures import counted, size
from tui.screens.memory.changes.doing import Outcome, Subject, Undo, Values, names_of
from tui.screens.memory.items import Item
from tui.screens.memory.operations.operation import KEY, NEW_KEY, Operation, Parameter, read_fraction
from tui.screens.memory.places import AgentRows, Place

if TYPE_CHECKING:
    from services.memory import AgentMemory
    from services.pinfold import Pinfold

_CONTENT = Parameter("content", "Content", "what to remember")
_IMPORTANCE = Parameter(
    "importance",
    "Importance",
    "0 to 1; empty: estimated",
    read_fraction,
    begin=lambda subject: "" if subject.item is None else f"{subject.item.importance or 0:g}",
)
_NEW_IMPORTANCE = Parameter("importance", "Importance", "0 to 1; empty: estimated", read_fraction)
_PINNED = Parameter("pinned", "Pinned", read=lambda typed: typed == "yes", options=(("no", "no"), ("yes", "yes")))
_CATEGORY = Parameter(
    "category",
    "Category",
    f"{CORE}, {DAILY}, {CONVERSATION} or another word",
    begin=lambda subject: (subject.item.category if subject.item else _category_of(subject.place)) or CORE,
)
_SESSION = Parameter("session", "Session", "the id of a session, or nothing")
_BY = Parameter("by", "Replaced by", "the key of the newer row")
_DAYS = Parameter("days", "Keep days", "conversation rows older than this go", read_fraction, begin=lambda _: "30")


def in_rows(place: Place, _: Item | None) -> bool:
    """Whether an agent's rows are shown."""
    return isinstance(place, AgentRows)


def on_row(place: Place, item: Item | None) -> bool:
    """Whether the cursor is on a row of an agent."""
    return isinstance(place, AgentRows) and item is not None


def alias_of(place: Place) -> str:
    """The agent whose rows are shown."""
    assert isinstance(place, AgentRows)
    return place.alias


def memory_of(subject: Subject) -> AgentMemory:
    """The memory that is shown.

    Raises:
        PinfoldError: It cannot be reached.
    """
    return subject.pinfold.agent_memories.of(alias_of(subject.place))


def undo_rows(alias: str, label: str, before: Sequence[tuple[str, Row | None]], after: Sequence[Row | None]) -> Undo:
    """How changes of an agent's rows are taken back.

    Args:
        alias: The agent.
        label: What was done, clean.
        before: Keys, and what was there.
        after: What the change left for each of them.
    """

    async def back(pinfold: Pinfold, anyway: bool) -> None:
        left = {key: row for (key, _), row in zip(before, after, strict=True)}
        await pinfold.agent_memories.of(alias).put_back(dict(before), left, anyway=anyway)

    return Undo(label, back)


async def store_over(subject: Subject, draft: Draft, before: Row | None) -> Outcome:
    """Store a row over the one that was seen there, and tell how to take it back.

    Raises:
        ChangedMeanwhile: Another is there by now; nothing is stored.
    """
    after = await memory_of(subject).store(msgspec.structs.replace(draft, seen=before))
    undo = undo_rows(alias_of(subject.place), f"store {names_of([draft.key])}", [(draft.key, before)], [after])
    return Outcome(f"{draft.key} is stored", undo=undo, item=draft.key)


def redrafted(row: Row, **changes: object) -> Draft:
    """What storing a row again needs, with some of it changed."""
    draft = Draft(
        key=row.key,
        content=row.content,
        category=row.category,
        session=row.session,
        importance=row.importance,
        pinned=row.pinned,
    )
    return msgspec.structs.replace(draft, **changes)


async def _store(subject: Subject, values: Values) -> Outcome:
    draft = Draft(
        key=values["key"],
        content=values["content"],
        category=values["category"],
        session=values["session"],
        importance=values["importance"],
        pinned=values["pinned"],
    )
    return await store_over(subject, draft, await memory_of(subject).get(draft.key, alias_of(subject.place)))


async def _weigh(subject: Subject, values: Values) -> Outcome:
    memory = memory_of(subject)
    row = await memory.get(values["key"], alias_of(subject.place))
    if row is None:
        raise NothingThere(f"{names_of([values['key']])} is not stored any more")
    draft = redrafted(row, category=values["category"], importance=values["importance"], session=values["session"])
    return await store_over(subject, draft, row)


async def pin(subject: Subject) -> Outcome:
    """Pin the row under the cursor, or take the pin out."""
    assert subject.item is not None
    alias, memory, key = alias_of(subject.place), memory_of(subject), subject.key
    before = await memory.get(key, alias)
    pinned = before is not None and not before.pinned
    if before is None or not await memory.pin(key, pinned):
        raise NothingThere(f"{names_of([key])} is not stored any more")
    undo = undo_rows(alias, f"pin {names_of([key])}", [(key, before)], [msgspec.structs.replace(before, pinned=pinned)])
    return Outcome(f"{key} is {'pinned' if pinned else 'not pinned any more'}", undo=undo, item=key)


async def _supersede(subject: Subject, values: Values) -> Outcome:
    alias, memory, key = alias_of(subject.place), memory_of(subject), values["key"]
    before, by = await memory.get(key, alias), await memory.get(values["by"], alias)
    if before is None or by is None or not await memory.supersede(key, values["by"]):
        raise NothingThere("one of the two rows is not stored")
    undo = undo_rows(
        alias, f"supersede {names_of([key])}", [(key, before)], [msgspec.structs.replace(before, superseded_by=by.id)]
    )
    return Outcome(f"{key} is superseded by {values['by']}", undo=undo, item=key)


async def _tidy(subject: Subject, values: Values, *, dry_run: bool) -> Outcome:
    retention = Retention({CONVERSATION: values["days"] or 0.0})
    pruned = await memory_of(subject).tidy(retention, subject.pinfold.now(), dry_run=dry_run)
    rows = [f"{category}: {counted(count, 'row')}" for category, count in pruned.rows.items()]
    total = f"{counted(pruned.total, 'row')}, {size(pruned.size)}"
    if dry_run:
        return Outcome("", [f"would go: {total}", *rows])
    return Outcome(f"{total} deleted")


async def _would_tidy(subject: Subject, values: Values) -> Outcome:
    return await _tidy(subject, values, dry_run=True)


async def _do_tidy(subject: Subject, values: Values) -> Outcome:
    return await _tidy(subject, values, dry_run=False)


async def forget(pinfold: Pinfold, alias: str, keys: Sequence[str]) -> tuple[int, Undo | None]:
    """Delete rows of an agent, and tell how many, and how to take it back."""
    memory = pinfold.agent_memories.of(alias)
    before = [(key, await memory.get(key, alias)) for key in keys]
    there = [(key, row) for key, row in before if row is not None]
    for key, _ in there:
        await memory.forget(key)
    label = f"forget {names_of([key for key, _ in there])}"
    return len(there), undo_rows(alias, label, there, [None] * len(there)) if there else None


def _category_of(place: Place) -> str:
    return place.category if isinstance(place, AgentRows) else ""


STORE = Operation(
    "store",
    "store a row",
    "Store something over the row with the same key",
    _store,
    in_rows,
    (NEW_KEY, _CONTENT, _CATEGORY, _NEW_IMPORTANCE, _PINNED, _SESSION),
)
OPERATIONS = (
    STORE,
    Operation(
        "weigh",
        "category, importance",
        "Change category, importance and session of a row",
        _weigh,
        on_row,
        (
            KEY,
            _CATEGORY,
            _IMPORTANCE,
            Parameter("session", "Session", begin=lambda subject: subject.item.of.session if subject.item else ""),
        ),
    ),
    Operation("supersede", "supersede", "Mark a row as replaced by another", _supersede, on_row, (KEY, _BY)),
    Operation(
        "would-tidy",
        "hygiene, dry run",
        "Tell what would be deleted",
        _would_tidy,
        in_rows,
        (_DAYS,),
        harmless=True,
    ),
    Operation("tidy", "hygiene", "Delete old conversation rows for good, not pinned ones", _do_tidy, in_rows, (_DAYS,)),
)
