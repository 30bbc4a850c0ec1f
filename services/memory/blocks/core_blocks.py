"""The core blocks of one tenant, and the history of their being rethought."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec

from services.errors import ChangedMeanwhile, InputRefused, NothingThere
from services.home import Database
from services.memory.agents.model import check_content
from services.memory.blocks.model import Block, BlockText, HistoryEntry, Tenant
from services.memory.screening import Screener

_TEXT_LIMIT = 100 * 1024
_HISTORY = 20


class CoreBlocks:
    """The three texts that one tenant always sees.

    A change is whole or not done: one that would make a block too long leaves it as it was.

    Args:
        tenant: Whose blocks; it is in the database.
        database: Where they are kept.
        now: The clock, nanoseconds since 1970.
        screener: Screens what is written and what agents read; None lets all through.
    """

    def __init__(
        self,
        tenant: Tenant,
        database: Database,
        now: Callable[[], int],
        screener: Screener | None = None,
    ) -> None:
        self.tenant = tenant
        self._database = database
        self._now = now
        self._screener = screener

    async def all(self) -> tuple[BlockText, ...]:
        """Read every block, persona first."""
        return await self._database.read(lambda c: tuple(_read(c, self.tenant, block) for block in Block))

    async def read(self, block: Block) -> BlockText:
        """Read one block."""
        return await self._database.read(lambda c: _read(c, self.tenant, block))

    async def all_for_agents(self) -> tuple[BlockText, ...]:
        """Read every block as agents are given it: one that may make them do harm is only named."""
        found = await self.all()
        if self._screener is None:
            return found
        shown = await self._screener.for_agents([text.content for text in found])
        return tuple(msgspec.structs.replace(text, content=said) for text, said in zip(found, shown, strict=True))

    async def history_for_agents(self, since: int | None, until: int | None, limit: int) -> list[HistoryEntry]:
        """Read the history as agents are given it; see `history`."""
        found = await self.history(since, until, limit)
        if self._screener is None:
            return found
        shown = await self._screener.for_agents([entry.entry for entry in found])
        return [msgspec.structs.replace(entry, entry=said) for entry, said in zip(found, shown, strict=True)]

    async def append(self, block: Block, content: str) -> BlockText:
        """Add a line at the end.

        Raises:
            InputRefused: The content is empty or no text, the block would be too long, or the scan finds what is
                rejected.
        """
        check_content(content, _TEXT_LIMIT)
        return await self._change(block, lambda old: f"{old}\n{content}" if old else content)

    async def replace(self, block: Block, old_text: str, new_text: str) -> BlockText:
        """Put a text in the place of the first that is exactly `old_text`.

        Raises:
            NothingThere: The block does not hold it.
            InputRefused: `old_text` is empty, a text is none, or the block would be too long.
        """
        check_content(old_text, _TEXT_LIMIT)
        _check_text(new_text)

        def replaced(old: str) -> str:
            if old_text not in old:
                raise NothingThere(f"no changes were made to {block}", why="it does not hold the old text")
            return old.replace(old_text, new_text, 1)

        return await self._change(block, replaced)

    async def rethink(self, block: Block, content: str, reasoning: str) -> BlockText:
        """Write a block anew, and why into the history.

        Raises:
            InputRefused: A text is none or too long.
        """
        _check_text(content)
        _check_text(reasoning)
        why = (await self._screener.screen(reasoning)).content if self._screener else reasoning
        return await self._change(block, lambda _: content, f"[rethink:{block}] {why}")

    async def write(self, block: Block, content: str, expected: str) -> BlockText:
        """Write a block over what somebody saw in it.

        Raises:
            ChangedMeanwhile: It holds something else than `expected` by now.
            InputRefused: The content is no text or too long.
        """
        _check_text(content)

        def written(old: str) -> str:
            if old != expected:
                raise ChangedMeanwhile(
                    f"{block} was not written", why="it was changed meanwhile", fix="Look at both and choose."
                )
            return content

        return await self._change(block, written)

    async def note(self, entry: str) -> None:
        """Write something into the history."""
        check_content(entry, _TEXT_LIMIT)
        text = (await self._screener.screen(entry)).content if self._screener else entry
        await self._database.write(lambda c: _note(c, self.tenant, text, self._now()))

    async def history(
        self, since: int | None = None, until: int | None = None, limit: int = _HISTORY
    ) -> list[HistoryEntry]:
        """Read the history, the newest first.

        Args:
            since: Only what was noted then or later, nanoseconds since 1970.
            until: Only what was noted before, nanoseconds since 1970.
            limit: At most so many entries.

        Raises:
            InputRefused: The limit is below 1.
        """
        if limit < 1:
            raise InputRefused(f"cannot read {limit} entries")
        sql = (
            "SELECT at, entry FROM block_history WHERE tenant = ? AND at >= coalesce(?, at) AND (? IS NULL OR at < ?)"
            " ORDER BY at DESC, number DESC LIMIT ?"
        )
        values = (self.tenant.id, since, until, until, limit)
        return await self._database.read(lambda c: [HistoryEntry(*row) for row in c.execute(sql, values)])

    async def _change(self, block: Block, change: Callable[[str], str], note: str = "") -> BlockText:
        screening = self._screener.screening if self._screener else None

        def job(connection: sqlite3.Connection) -> BlockText:
            now = self._now()
            text = _fitting(block, change(_read(connection, self.tenant, block).content))
            if screening is not None:  # of the whole, since two harmless parts may do harm together
                text = _fitting(block, screening.screen(text).content)
            connection.execute(
                "INSERT INTO core_blocks (tenant, block, content, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET content = excluded.content, updated_at = excluded.updated_at",
                (self.tenant.id, block.value, text, now),
            )
            if note:
                _note(connection, self.tenant, note, now)
            return BlockText(block, text, now)

        return await self._database.write(job)


def _fitting(block: Block, text: str) -> str:
    if len(text) > block.limit:
        raise InputRefused(
            f"{block} would be too long",
            why=f"it would have {len(text):,} characters, at most {block.limit:,} fit",
            fix="Rethink it to say less.",
        )
    return text


def _read(connection: sqlite3.Connection, tenant: Tenant, block: Block) -> BlockText:
    sql = "SELECT content, updated_at FROM core_blocks WHERE tenant = ? AND block = ?"
    found = connection.execute(sql, (tenant.id, block.value)).fetchone()
    return BlockText(block, *(found or ("", 0)))


def _note(connection: sqlite3.Connection, tenant: Tenant, entry: str, now: int) -> None:
    connection.execute("INSERT INTO block_history (tenant, entry, at) VALUES (?, ?, ?)", (tenant.id, entry, now))


def _check_text(text: str) -> None:
    if text != "":
        check_content(text, _TEXT_LIMIT)
