"""Reads the rows of a place, some at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tui.screens.memory import items
from tui.screens.memory.items import Item
from tui.screens.memory.places import (
    AgentRows,
    ArchiveOf,
    CoreBlocksOf,
    FoundRows,
    OpenContexts,
    Place,
    ScopeKeys,
    ScopesOf,
    StepsOf,
)
from tui.widgets.table import Window

if TYPE_CHECKING:
    from services.pinfold import Pinfold

RECALLED = 200
"""The most rows one recall or search of an archive shows."""


@dataclass(frozen=True)
class Asked:
    """What of a place is wanted.

    Attributes:
        text: What the operator filters by or recalls; "" is everything.
        window: Which rows.
        around: The id of the row that has to stay where it is; "" when none has to.
        before: How many rows of the window come before that one.
        reveal: Show secrets.
    """

    text: str
    window: Window
    around: str = ""
    before: int = 0
    reveal: bool = False


@dataclass(frozen=True)
class Part:
    """Some rows of a place; see `PagedTable.show_page`."""

    rows: tuple[Item, ...]
    start: int
    total: int
    place: int | None = None


async def read_part(pinfold: Pinfold, place: Place, asked: Asked) -> Part:
    """Read the rows that are wanted of a place; a search is read elsewhere.

    Raises:
        PinfoldError: They cannot be read.
    """
    match place:
        case ScopeKeys():
            return await _keys(pinfold, place, asked)
        case AgentRows():
            return await _agent_rows(pinfold, place, asked)
        case CoreBlocksOf():
            return await _blocks(pinfold, place, asked)
        case ArchiveOf():
            return await _entries(pinfold, place, asked)
        case OpenContexts():
            contexts = await pinfold.memory.contexts.all()
            return _whole([items.context_item(place, context) for context in contexts])
        case StepsOf():
            steps = await pinfold.memory.contexts.steps(context=place.context)
            return _whole(await _made(pinfold, lambda step: items.step_item(place, step, reveal=asked.reveal), steps))
        case ScopesOf() | FoundRows():
            return Part((), 0, 0)


def pattern_of(text: str) -> str:
    """The pattern that a filter stands for: keys that contain it, unless it says itself where `*` is."""
    return text if not text or "*" in text else f"*{text}*"


async def _keys(pinfold: Pinfold, place: ScopeKeys, asked: Asked) -> Part:
    namespace = pinfold.memory.namespace(place.scope)
    pattern, limit = pattern_of(asked.text), asked.window.limit
    if asked.around:
        page = await namespace.page_around(asked.around, pattern, before=asked.before, limit=limit)
    else:
        page = await namespace.page(pattern, start=asked.window.start, limit=limit)
    rows = await _made(pinfold, lambda entry: items.key_item(place, entry, reveal=asked.reveal), page.entries)
    return Part(rows, page.start, page.total, page.place if asked.around else None)


async def _agent_rows(pinfold: Pinfold, place: AgentRows, asked: Asked) -> Part:
    from services.memory import Listing, Query

    memory = pinfold.agent_memories.of(place.alias)
    category = place.category or None
    if asked.text:
        query = Query(text=asked.text, limit=RECALLED, category=category, withheld=True, search="keywords")
        found = await memory.recall(query, [place.alias])
        rows: Sequence[Any] = [recalled.row for recalled in found]
        start, total = 0, len(rows)
    else:
        window = asked.window
        wanted = Listing(category=category, superseded=True, limit=window.limit, offset=window.start)
        rows = await memory.listed(wanted)
        start, total = window.start, await memory.count(Listing(category=category, superseded=True))
    made = await _made(pinfold, lambda row: items.row_item(place, row, reveal=asked.reveal), rows)
    return Part(made, start, total)


async def _blocks(pinfold: Pinfold, place: CoreBlocksOf, asked: Asked) -> Part:
    from services.memory import Block, BlockText

    if place.tenant is None:
        texts: Sequence[BlockText] = [BlockText(block, "", 0) for block in Block]
    else:
        texts = await pinfold.core_memory.blocks(place.tenant).all()
    return _whole(await _made(pinfold, lambda text: items.block_item(place, text, reveal=asked.reveal), texts))


async def _entries(pinfold: Pinfold, place: ArchiveOf, asked: Asked) -> Part:
    if place.tenant is None:
        return _whole(())
    archive = pinfold.core_memory.archive(place.tenant)
    if asked.text:
        entries = await archive.search(asked.text, RECALLED)
        start, total = 0, len(entries)
    else:
        start = asked.window.start
        entries = await archive.entries(limit=asked.window.limit, offset=start)
        total = await archive.count()
    made = await _made(pinfold, lambda entry: items.entry_item(place, entry, reveal=asked.reveal), entries)
    return Part(made, start, total)


async def _made(pinfold: Pinfold, make: Callable[[Any], Item], found: Sequence[Any]) -> tuple[Item, ...]:
    """Make the rows in a thread, since the scan takes its time."""
    return await pinfold.calls.run(lambda: tuple(make(each) for each in found))


def _whole(rows: Sequence[Item]) -> Part:
    return Part(tuple(rows), 0, len(rows))
