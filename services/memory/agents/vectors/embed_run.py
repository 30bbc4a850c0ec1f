"""Gives all memories of an agent vectors of its embedder; whatever interrupts it, the same goes on from there."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Sequence

from services.agents import VectorSection
from services.errors import EmbedderBusy, LockHeld
from services.home import Database, FileLock
from services.memory.agents.model import Owner
from services.memory.agents.rows import agent_id
from services.memory.agents.upkeep import Upkeep
from services.memory.agents.vectors import rows
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.endpoint import unavailable
from services.memory.agents.vectors.making import BATCH, Made, made_of
from services.memory.agents.vectors.model import Embedder, EmbedPlan, EmbedProgress, Source

_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds until an embedder that has too much to do is asked again, unless it says when."""


class EmbedRun:
    """Embeds one agent's memories.

    Args:
        owner: The agent.
        section: Names its embedder.
        database: The home's.
        embedding: Turns texts into vectors.
        upkeep: Says where the lock lies, and logs.
        actor: Who embeds, for the log.
    """

    def __init__(
        self,
        owner: Owner,
        section: VectorSection,
        database: Database,
        embedding: Embedding,
        upkeep: Upkeep,
        actor: str = "operator",
    ) -> None:
        self._owner = owner
        self._section = section
        self._database = database
        self._embedding = embedding
        self._upkeep = upkeep
        self._actor = actor

    async def plan(self) -> EmbedPlan:
        """Look at what would be done, as far as it is known without asking the embedder; nothing is changed.

        Raises:
            EmbedderUnavailable: The embedder is not set up.
        """
        embedder = self._embedding.embedder(self._section)

        def job(connection: sqlite3.Connection) -> rows.Coverage:
            space = rows.newest_space(connection, embedder.provider, embedder.model, embedder.dimensions)
            return rows.coverage(connection, agent_id(connection, self._owner.alias), space)

        found = await self._database.read(job)
        return EmbedPlan(
            alias=self._owner.alias,
            embedder=embedder.name,
            model=embedder.model,
            memories=found.memories,
            outdated=found.elsewhere,
            missing=found.missing,
        )

    async def run(self) -> AsyncGenerator[EmbedProgress, None]:
        """Embed what has no vector of the embedder, and tell how far it is; each batch is kept as it is done.

        Raises:
            EmbedderUnavailable: The embedder cannot be used, or no longer; what was done stays.
            LockHeld: Another Pinfold embeds them.
        """
        alias = self._owner.alias
        lock = FileLock(self._upkeep.home.locks_dir / f"memory-embed-{alias}.lock", f"the vectors of {alias}")
        if not lock.try_acquire():
            raise LockHeld(
                f"the memories of {alias} are being embedded", why="another Pinfold does it", fix="Wait for it."
            )
        try:
            async for progress in self._embedded():
                yield progress
        finally:
            lock.release()

    async def _embedded(self) -> AsyncGenerator[EmbedProgress, None]:
        alias = self._owner.alias
        embedder = self._embedding.embedder(self._section)
        space = await self._embedding.space(embedder)
        number = await self._database.write(lambda c: rows.sure_space(c, space))
        coverage = await self._database.read(lambda c: rows.coverage(c, agent_id(c, alias), number))
        done = kept_back = refused = 0
        yield EmbedProgress(0, coverage.lacking, 0, 0)
        after = ""
        while page := await self._page(number, after):
            after = page[-1].key
            made = await self._made(embedder, page)
            if made.space != space:
                raise unavailable(embedder, "its vectors have another size than when this began", "Run it again.")
            await self._database.write(made.store)
            done += len(page)
            kept_back += sum(source.kept_back for source in page)
            refused += len(made.refused)
            yield EmbedProgress(done, max(done, coverage.lacking), kept_back, refused)
        if done:
            await self._upkeep.record("embed", self._actor, alias, f"{done - refused} by {embedder.model}")

    async def _page(self, space: int, after: str) -> Sequence[Source]:
        alias = self._owner.alias
        return await self._database.read(lambda c: rows.lacking(c, agent_id(c, alias), space, after, BATCH))

    async def _made(self, embedder: Embedder, page: Sequence[Source]) -> Made:
        """Make vectors, with patience for an embedder that has too much to do."""
        for pause in _PAUSES:
            try:
                return await made_of(self._embedding, embedder, page)
            except EmbedderBusy as error:
                await asyncio.sleep(pause if error.seconds is None else error.seconds)
        return await made_of(self._embedding, embedder, page)
