"""What an embedder answered, checked and turned into vectors; imported only where numpy is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from msgspec import Meta

from services.agents import MOST_DIMENSIONS
from services.memory.agents.vectors.endpoint import unavailable
from services.memory.agents.vectors.model import Embedder

if TYPE_CHECKING:
    from services.memory.agents.vectors.model import Vectors


class _Vector(msgspec.Struct, frozen=True):
    embedding: Annotated[list[float], Meta(min_length=1, max_length=MOST_DIMENSIONS)]
    index: int


class _Answer(msgspec.Struct, frozen=True):
    data: list[_Vector]


_DECODER = msgspec.json.Decoder(_Answer)


def vectors_in(answer: bytes, embedder: Embedder, count: int) -> Vectors:
    """Read the vectors of some texts, in their order.

    Raises:
        EmbedderUnavailable: It is no such answer; or a vector has the wrong size, no direction, or no numbers.
    """
    try:
        data = _DECODER.decode(answer).data
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = str(error) if isinstance(error, msgspec.ValidationError) else "it is no JSON"
        raise unavailable(embedder, f"its answer cannot be read: {why}") from None
    if sorted(one.index for one in data) != list(range(count)):
        raise unavailable(embedder, f"it was given {count} texts and answers with {len(data)} vectors, or not theirs")
    numbers = [one.embedding for one in sorted(data, key=lambda one: one.index)]
    sizes = {len(one) for one in numbers}
    if len(sizes) > 1:
        raise unavailable(embedder, f"its vectors have {min(sizes):,} to {max(sizes):,} dimensions in one answer")
    if embedder.dimensions and sizes != {embedder.dimensions}:
        why = f"its vectors have {sizes.pop():,} dimensions, not {embedder.dimensions:,}"
        raise unavailable(embedder, why, "Look at dimensions in [memory.vectors].")
    return _of_length_one(np.array(numbers, dtype=np.float64), embedder)


def _of_length_one(vectors: np.ndarray[tuple[int, int], np.dtype[np.float64]], embedder: Embedder) -> Vectors:
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise unavailable(embedder, "a vector holds numbers that are none")
    if not (largest > 0).all():
        raise unavailable(embedder, "a vector holds nothing but zeros")
    scaled = vectors / largest  # so that squares neither overflow nor vanish
    unit: Vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype("<f4")
    return unit
