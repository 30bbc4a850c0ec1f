"""The agent's core blocks and archive as tools, by the names Letta gave them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from services.memory import rendered
from services.sandbox.tools.serving.offered.tool import Arguments, Reach, Tool

Block = Annotated[str, Meta(max_length=64, description="persona, human or working_context.")]
Day = Annotated[str, Meta(max_length=10, description='YYYY-MM-DD, or "".')]
Limit = Annotated[int, Meta(ge=1, le=100, description="At most so many.")]
Content = Annotated[str, Meta(max_length=65536)]


class ReadBlocksArguments(Arguments, frozen=True):
    """What `core_memory_read` takes: nothing."""


class AppendArguments(Arguments, frozen=True):
    """What `core_memory_append` takes."""

    block: Block
    content: Content


class ReplaceArguments(Arguments, frozen=True):
    """What `core_memory_replace` takes."""

    block: Block
    old_text: Annotated[str, Meta(max_length=65536, description="Exactly as it stands in the block.")]
    new_text: Content


class RethinkArguments(Arguments, frozen=True):
    """What `rethink` takes."""

    block: Block
    new_content: Content
    reasoning: Annotated[str, Meta(max_length=65536, description="Why; kept in the history.")]


class InsertArguments(Arguments, frozen=True):
    """What `archival_memory_insert` takes."""

    content: Content


class SearchArguments(Arguments, frozen=True):
    """What `archival_memory_search` takes."""

    query: Annotated[str, Meta(max_length=4096, description='Words, any of which may occur; "foo*" is a beginning.')]
    limit: Limit = 5


class DeleteArguments(Arguments, frozen=True):
    """What `archival_memory_delete` takes."""

    entry_id: Annotated[str, Meta(max_length=64, description="As archival_memory_search shows it.")]


class HistoryArguments(Arguments, frozen=True):
    """What `recall_memory_search` takes."""

    start_date: Day = ""
    end_date: Day = ""
    limit: Limit = 20


async def _read(reach: Reach, asked: ReadBlocksArguments) -> str:
    core = reach.stores.core
    tenant = await core.tenants.of_agent(reach.grant.agent)
    return await rendered(core.blocks(tenant), core.archive(tenant))


async def _append(reach: Reach, asked: AppendArguments) -> str:
    return await (await reach.letta()).core_memory_append(asked.block, asked.content)


async def _replace(reach: Reach, asked: ReplaceArguments) -> str:
    return await (await reach.letta()).core_memory_replace(asked.block, asked.old_text, asked.new_text)


async def _rethink(reach: Reach, asked: RethinkArguments) -> str:
    return await (await reach.letta()).rethink(asked.block, asked.new_content, asked.reasoning)


async def _insert(reach: Reach, asked: InsertArguments) -> str:
    return await (await reach.letta()).archival_memory_insert(asked.content)


async def _search(reach: Reach, asked: SearchArguments) -> str:
    return await (await reach.letta()).archival_memory_search(asked.query, asked.limit)


async def _delete(reach: Reach, asked: DeleteArguments) -> str:
    return await (await reach.letta()).archival_memory_delete(asked.entry_id)


async def _history(reach: Reach, asked: HistoryArguments) -> str:
    return await (await reach.letta()).recall_memory_search(asked.start_date, asked.end_date, asked.limit)


def core_tools() -> Iterable[Tool]:
    """The tools of core blocks and the archive."""
    yield Tool(
        "core_memory_read",
        "Read your core memory: persona, human and working_context, and how much is archived.",
        ReadBlocksArguments,
        _read,
        acts=False,
    )
    yield Tool("core_memory_append", "Add a line to a block of core memory.", AppendArguments, _append, acts=True)
    yield Tool(
        "core_memory_replace",
        "Replace the first occurrence of a text in a block of core memory.",
        ReplaceArguments,
        _replace,
        acts=True,
    )
    yield Tool("rethink", "Write a block of core memory anew, and say why.", RethinkArguments, _rethink, acts=True)
    yield Tool("archival_memory_insert", "Put a text into your archive.", InsertArguments, _insert, acts=True)
    yield Tool("archival_memory_search", "Search your archive by words.", SearchArguments, _search, acts=False)
    yield Tool("archival_memory_delete", "Delete an entry of your archive.", DeleteArguments, _delete, acts=True)
    yield Tool(
        "recall_memory_search",
        "Read the history of your core memory between two days, both included; at least one must be given.",
        HistoryArguments,
        _history,
        acts=False,
    )
