"""The vectors of some memories, made and stored together."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from services.errors import EmbedderRefused
from services.memory.agents.vectors import rows
from services.memory.agents.vectors.embedding import Embedding
from services.memory.agents.vectors.model import Embedded, Embedder, Source, Space

BATCH = 32
"""So many texts go in one request."""

_NOTHING = b""


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors that are to be stored.

    Attributes:
        space: Which they are of.
        vectors: By what they were made of; empty for what is given to nobody.
        refused: What the embedder does not take.
    """

    space: Space
    vectors: tuple[tuple[Source, bytes], ...]
    refused: tuple[Source, ...]

    def store(self, connection: sqlite3.Connection) -> int:
        """Store them, inside the caller's transaction, where the memories are still the same; count them."""
        count = rows.put(connection, rows.sure_space(connection, self.space), self.vectors)
        rows.settle(connection, [*(source for source, _ in self.vectors), *self.refused])
        return count


async def made_of(embedding: Embedding, embedder: Embedder, sources: Sequence[Source]) -> Made:
    """Make vectors of some memories; what the scan found something in is given to nobody.

    Raises:
        EmbedderUnavailable: The embedder cannot be used.
    """
    given = [source for source in sources if not source.kept_back]
    kept_back = [(source, _NOTHING) for source in sources if source.kept_back]
    taken, embedded = await _taken(embedding, embedder, given)
    space = embedded[0].space if embedded else await embedding.space(embedder)
    vectors = [vector.tobytes() for one in embedded for vector in one.vectors]
    made = (*zip(taken, vectors, strict=True), *kept_back)
    return Made(space, made, tuple(source for source in given if source not in taken))


async def _taken(
    embedding: Embedding, embedder: Embedder, given: Sequence[Source]
) -> tuple[Sequence[Source], Sequence[Embedded]]:
    """Embed texts at once, or one by one where not all are taken."""
    if not given:
        return (), ()
    try:
        return given, [await embedding.of_texts(embedder, [source.text for source in given])]
    except EmbedderRefused:
        pass
    taken, embedded = [], []
    for source in given:
        try:
            embedded.append(await embedding.of_texts(embedder, [source.text]))
            taken.append(source)
        except EmbedderRefused:
            continue
    return taken, embedded
