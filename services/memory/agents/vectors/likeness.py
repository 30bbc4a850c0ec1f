"""What an agent with an embedder has beside its back-end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.agents import VectorSection
from services.memory.agents.model import Owner, Query, Recollection
from services.memory.agents.vectors.arrears import Arrears
from services.memory.agents.vectors.recalling import VectorRecall


@dataclass(frozen=True, slots=True)
class Likeness:
    """One agent's way to what is like a query.

    Attributes:
        alias: The agent.
        section: What its file says.
    """

    alias: str
    section: VectorSection
    recalling: VectorRecall
    arrears: Arrears

    async def recall(self, owners: Sequence[Owner], query: Query) -> Recollection:
        """Find rows of these agents by words and by likeness; by words alone where the embedder cannot be used."""
        return await self.recalling.recall(self.section, owners, query)

    def wake(self) -> None:
        """See to it that what was just stored gets its vector; returns at once."""
        self.arrears.wake(self.alias)
