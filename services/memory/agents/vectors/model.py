"""What a vector is, and what those who ask for vectors are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """One vector a row, each of length 1."""

TEXT_LIMIT = 8_000
"""Characters of a memory that its vector is made of; what is longer stands for itself by its beginning."""


class Space(msgspec.Struct, frozen=True):
    """What vectors have in common that can be compared.

    Attributes:
        provider: The protocol and the address of the embedder.
        model: The model it was asked for.
        dimensions: How many numbers a vector has.
    """

    provider: str
    model: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Embedder:
    """What turns texts into vectors.

    Attributes:
        name: The connector it is.
        provider: The protocol and the address.
        url: Where texts are posted.
        model: The model asked for.
        dimensions: How many numbers a vector shall have; 0 is as many as it gives.
        key: Proves to it who asks; "" where it asks for none.
    """

    name: str
    provider: str
    url: str
    model: str
    dimensions: int = 0
    key: str = field(default="", repr=False)

    @property
    def origin(self) -> tuple[str, str, int]:
        """What decides on the vector of a text, whatever the connector is called."""
        return (self.provider, self.model, self.dimensions)

    def space(self, dimensions: int) -> Space:
        """The space of vectors that have so many numbers."""
        return Space(self.provider, self.model, dimensions)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Texts as vectors.

    Attributes:
        vectors: In the order of the texts.
    """

    space: Space
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Source:
    """What the vector of a memory is made of.

    Attributes:
        memory: The number of its row.
        kept_back: The scan found something in it, so that it is given to nobody.
    """

    memory: int
    key: str
    content: str
    kept_back: bool

    @property
    def text(self) -> str:
        """What an embedder gets."""
        return f"{self.key}\n\n{self.content}"[:TEXT_LIMIT]


class EmbedPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What embedding an agent's memories would do.

    Attributes:
        alias: The agent.
        embedder: The connector.
        model: Its model.
        memories: How many memories there are.
        outdated: Those whose vectors are of another model, address or size.
        missing: Those without a vector.
    """

    alias: str
    embedder: str
    model: str
    memories: int
    outdated: int
    missing: int

    @property
    def todo(self) -> int:
        """How many memories would get a vector."""
        return self.outdated + self.missing


class EmbedProgress(msgspec.Struct, frozen=True):
    """How far it is.

    Attributes:
        done: Memories that are dealt with.
        total: Those that will be, as far as it is known.
        kept_back: Those of `done` that the scan found something in, and that were given to nobody.
        refused: Those of `done` that the embedder does not take; they stay without a vector.
    """

    done: int
    total: int
    kept_back: int
    refused: int
