"""Vectors of texts that were asked for lately, so that nobody is asked twice."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from services.memory.agents.vectors.model import Embedder

if TYPE_CHECKING:
    from services.memory.agents.vectors.model import Vectors

_MOST = 10_000
_MOST_BYTES = 64 * 1024 * 1024


class VectorCache:
    """The vectors used last, by embedder and text; texts are kept as digests.

    Args:
        most: So many at most.
        most_bytes: So large at most.
    """

    def __init__(self, most: int = _MOST, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._kept: OrderedDict[bytes, Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, embedder: Embedder, text: str) -> Vectors | None:
        """Find the vector of a text."""
        key = _key(embedder, text)
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def put(self, embedder: Embedder, text: str, vector: Vectors) -> None:
        """Keep a vector, instead of those that were not used for longest."""
        key = _key(embedder, text)
        if (old := self._kept.pop(key, None)) is not None:
            self._bytes -= old.nbytes
        self._kept[key] = vector
        self._bytes += vector.nbytes
        while len(self._kept) > self._most or self._bytes > self._most_bytes:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes

    def clear(self) -> None:
        """Keep none."""
        self._kept.clear()
        self._bytes = 0


def _key(embedder: Embedder, text: str) -> bytes:
    parts = (*map(str, embedder.origin), text)
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).digest()
