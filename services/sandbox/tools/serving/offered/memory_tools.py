"""The agent's own memory as tools: stored, recalled, listed and forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from services.errors import NothingThere
from services.memory import CORE, Draft, Listing, Query, Row
from services.sandbox.tools.serving.offered.tool import Arguments, Reach, Result, Tool

Key = Annotated[str, Meta(min_length=1, max_length=1024, description="A short name, unique among your memories.")]
Category = Annotated[
    str,
    Meta(min_length=1, max_length=64, description="core (lasting), daily, conversation, or a single word of your own."),
]
_AT_ONCE = 100
_BY_WORDS = "Some or all of it was searched by words alone."
_SECOND = 10**9


class StoreArguments(Arguments, frozen=True):
    """What `memory_store` takes."""

    key: Key
    content: Annotated[str, Meta(min_length=1, max_length=65536, description="What to remember; at most 64 KiB.")]
    category: Category = CORE
    importance: Annotated[float, Meta(ge=0, le=1, description="From 0 to 1; estimated when left out.")] | None = None


class RecallArguments(Arguments, frozen=True):
    """What `memory_recall` takes."""

    query: Annotated[
        str,
        Meta(max_length=4096, description='Words, any of which may occur; "foo*" is a beginning; "" is the newest.'),
    ] = ""
    limit: Annotated[int, Meta(ge=1, le=_AT_ONCE, description="At most so many.")] = 5
    category: Category | None = None
    agents: Annotated[
        tuple[str, ...], Meta(max_length=64, description="Only memories of these agents; empty is all you may read.")
    ] = ()


class GetArguments(Arguments, frozen=True):
    """What `memory_get` takes."""

    key: Key
    agent: Annotated[str, Meta(max_length=63, description='Whose; "" is yours first.')] = ""


class ListArguments(Arguments, frozen=True):
    """What `memory_list` takes."""

    category: Category | None = None
    limit: Annotated[int, Meta(ge=1, le=_AT_ONCE, description="At most so many.")] = 50
    offset: Annotated[int, Meta(ge=0, le=1_000_000_000, description="Leave out so many from the start.")] = 0


class CountArguments(Arguments, frozen=True):
    """What `memory_count` takes."""

    category: Category | None = None


class ForgetArguments(Arguments, frozen=True):
    """What `memory_forget` takes."""

    key: Key


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row as an agent sees it.

    Attributes:
        updated: When it was last stored, UTC.
        score: From 0 to 1, how well it fits a query.
        withheld: Its content is kept from agents, since the scan found something in it.
    """

    key: str
    content: str
    category: str
    agent: str
    updated: str
    score: float | None = None
    withheld: bool = False


class Memories(Result, frozen=True, omit_defaults=True):
    """Rows, in order.

    Attributes:
        notice: That they could not be found as usual; never what an operator is told of it.
    """

    memories: tuple[Memory, ...]
    notice: str = ""


async def _store(reach: Reach, asked: StoreArguments) -> str:
    draft = Draft(
        key=asked.key,
        content=asked.content,
        category=asked.category,
        session=reach.grant.session,
        importance=asked.importance,
    )
    row = await reach.own.store(draft)
    note = "; it is withheld from agents, because the scan found something in it" if row.withheld else ""
    return f"Stored {row.key} ({row.category}){note}."


async def _recall(reach: Reach, asked: RecallArguments) -> Memories:
    agents = reach.readable(asked.agents)
    if not agents:
        return Memories(())
    query = Query(text=asked.query, limit=asked.limit, category=asked.category)
    recollection = await reach.own.recollect(query, agents)
    found = tuple(_seen(recalled.row, recalled.score) for recalled in recollection.found)
    return Memories(found, _BY_WORDS if recollection.notice else "")


async def _get(reach: Reach, asked: GetArguments) -> Memories:
    for agent in reach.readable((asked.agent,) if asked.agent else ()):
        row = await reach.own.get(asked.key, agent)
        if row is not None:
            return Memories((_seen(row),))
    raise NothingThere("no memory has this key", fix="memory_recall and memory_list show which there are.")


async def _list(reach: Reach, asked: ListArguments) -> Memories:
    rows = await reach.own.listed(Listing(category=asked.category, limit=asked.limit, offset=asked.offset))
    return Memories(tuple(_seen(row) for row in rows))


async def _count(reach: Reach, asked: CountArguments) -> str:
    return str(await reach.own.count(Listing(category=asked.category)))


async def _forget(reach: Reach, asked: ForgetArguments) -> str:
    return "Forgotten." if await reach.own.forget(asked.key) else "You have no memory with this key."


def _seen(row: Row, score: float | None = None) -> Memory:
    content = "" if row.withheld else row.content
    updated = datetime.fromtimestamp(row.updated_at // _SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Memory(row.key, content, row.category, row.agent, updated, score, row.withheld)


def memory_tools() -> Iterable[Tool]:
    """The tools of an agent's memory."""
    yield Tool(
        "memory_store",
        "Remember something beyond this session. A memory with the same key is replaced.",
        StoreArguments,
        _store,
        acts=True,
    )
    yield Tool(
        "memory_recall",
        "Find memories by words, the best first: yours, and those of agents you may read.",
        RecallArguments,
        _recall,
        acts=False,
    )
    yield Tool("memory_get", "Read one memory by its key.", GetArguments, _get, acts=False)
    yield Tool("memory_list", "List your own memories, the newest first.", ListArguments, _list, acts=False)
    yield Tool("memory_count", "Count your own memories.", CountArguments, _count, acts=False)
    yield Tool("memory_forget", "Delete one of your own memories by its key.", ForgetArguments, _forget, acts=True)
