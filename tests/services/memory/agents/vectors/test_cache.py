"""Vectors of texts are remembered for as long as there is room."""

from __future__ import annotations

import numpy as np

from services.memory.agents.vectors.cache import VectorCache
from services.memory.agents.vectors.model import Embedder

SMALL = Embedder("near", "openai http://x", "http://x/embeddings", "small")
LARGE = Embedder("near", "openai http://x", "http://x/embeddings", "large")
VECTOR = np.ones(4, np.float32)


def test_a_vector_is_of_one_text_and_one_model() -> None:
    cache = VectorCache()
    cache.put(SMALL, "a", VECTOR)
    assert cache.get(SMALL, "a") is VECTOR
    assert cache.get(SMALL, "A") is cache.get(LARGE, "a") is None


def test_what_was_not_used_for_longest_makes_room() -> None:
    cache = VectorCache(most=3)
    for text in "abc":
        cache.put(SMALL, text, VECTOR)
    assert cache.get(SMALL, "a") is not None
    cache.put(SMALL, "d", VECTOR)
    assert [text for text in "abcd" if cache.get(SMALL, text) is None] == ["b"]


def test_large_vectors_have_less_room_and_one_that_is_put_again_counts_once() -> None:
    cache = VectorCache(most_bytes=3 * VECTOR.nbytes)
    for text in "abaacd":
        cache.put(SMALL, text, VECTOR)
    assert [text for text in "abcd" if cache.get(SMALL, text) is not None] == ["a", "c", "d"]
    cache.clear()
    assert len(cache) == 0
