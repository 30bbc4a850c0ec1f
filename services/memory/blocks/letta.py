"""The tools a model changes its memory with, by the names Letta gave them; each answers with a text for the model."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from services.errors import InputRefused
from services.memory.blocks.archive import SEARCH_LIMIT, Archive
from services.memory.blocks.core_blocks import CoreBlocks
from services.memory.blocks.model import Block

_SECOND = 1_000_000_000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_HISTORY = 20


class LettaTools:
    """The tools of one tenant.

    Each raises `InputRefused` for what is not acceptable, with a message that a model can act upon.

    Args:
        blocks: Its core blocks.
        archive: Its archive.
    """

    def __init__(self, blocks: CoreBlocks, archive: Archive) -> None:
        self._blocks = blocks
        self._archive = archive

    async def core_memory_append(self, block: str, content: str) -> str:
        """Add a line to a core block."""
        text = await self._blocks.append(Block.parse(block), content)
        return f"Added to {block}; {text.left:,} characters are left."

    async def core_memory_replace(self, block: str, old_text: str, new_text: str) -> str:
        """Replace the first occurrence of a text in a core block.

        Raises:
            NothingThere: The block does not hold the old text; no changes were made.
        """
        text = await self._blocks.replace(Block.parse(block), old_text, new_text)
        return f"Replaced in {block}; {text.left:,} characters are left."

    async def rethink(self, block: str, new_content: str, reasoning: str) -> str:
        """Write a core block anew."""
        text = await self._blocks.rethink(Block.parse(block), new_content, reasoning)
        return f"Rewrote {block}; {text.left:,} characters are left."

    async def archival_memory_insert(self, content: str) -> str:
        """Put something into the archive."""
        entry = await self._archive.insert(content)
        return f"Archived as {entry.id}; {await self._archive.count():,} entries in all."

    async def archival_memory_search(self, query: str, limit: int = SEARCH_LIMIT) -> str:
        """Search the archive."""
        found = await self._archive.search_for_agents(query, limit)
        if not found:
            return "No archival memory entries found."
        return "\n".join(
            f"{number}. [{entry.id}, {_moment(entry.created_at)}, score={entry.score:.2f}] {entry.content}"
            for number, entry in enumerate(found, start=1)
        )

    async def archival_memory_delete(self, entry_id: str) -> str:
        """Delete an archive entry."""
        gone = await self._archive.delete(entry_id)
        return "Deleted." if gone else "No such archival memory entry."

    async def recall_memory_search(self, start_date: str = "", end_date: str = "", limit: int = _HISTORY) -> str:
        """Read the history between two days, both included; at least one is given as YYYY-MM-DD."""
        if not start_date and not end_date:
            raise InputRefused("no day is named", fix="Give start_date, end_date or both, as YYYY-MM-DD.")
        since = _start_of(_day(start_date)) if start_date else None
        until = _start_of(_day(end_date) + timedelta(days=1)) if end_date else None
        found = await self._blocks.history_for_agents(since, until, limit)
        if not found:
            return "No history in that time."
        return "\n".join(f"[{_moment(entry.at)}] {entry.entry}" for entry in found)


async def rendered(blocks: CoreBlocks, archive: Archive) -> str:
    """Write the core blocks as they go into a prompt, but what may do harm there, and how much is archived."""
    parts = ["## Core Memory"]
    shown = await blocks.all_for_agents()
    parts.extend(f"### {text.block.heading}\n{text.content or '(empty)'}" for text in shown)
    count = await archive.count()
    parts.append(f"[Archival Memory: {count} entries | Use archival_memory_search to retrieve]")
    return "\n\n".join(parts)


def _day(text: str) -> date:
    refused = InputRefused(f"{text[:40]!r} is no day", fix="Write it as YYYY-MM-DD.")
    if not _DATE.fullmatch(text) or not "1970-01-02" <= text < "2200-01-01":
        raise refused
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise refused from error


def _start_of(day: date) -> int:
    return int(datetime.combine(day, time.min).astimezone().timestamp()) * _SECOND


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at / _SECOND).astimezone().strftime("%Y-%m-%d %H:%M")
