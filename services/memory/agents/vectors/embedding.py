"""Texts turned into vectors by the embedder that an agent's file names."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from services.agents import Agents, VectorSection, fault_of_connector
from services.errors import EmbedderRefused, EmbedderUnavailable
from services.home import BlockingCalls
from services.memory.agents.vectors.cache import VectorCache
from services.memory.agents.vectors.endpoint import Endpoint, unavailable
from services.memory.agents.vectors.model import Embedded, Embedder, Space

if TYPE_CHECKING:
    from services.memory.agents.vectors.model import Vectors

_QUERY_SECONDS = 5.0
_BATCH_SECONDS = 60.0
_COOL_DOWN_SECONDS = 15.0
_TRIAL = "pinfold"


class Embedding:
    """Asks embedders; one that just failed is not asked about queries for a while.

    Args:
        agents: Says what the connectors are; asked for every request.
        env: Where their keys are looked up.
        calls: Threads.
        query_seconds: The most seconds that somebody who recalls waits.
        batch_seconds: The most seconds for texts that nobody waits for.
    """

    def __init__(
        self,
        agents: Agents,
        env: Mapping[str, str],
        calls: BlockingCalls,
        query_seconds: float = _QUERY_SECONDS,
        batch_seconds: float = _BATCH_SECONDS,
    ) -> None:
        self._agents = agents
        self._env = env
        self._calls = calls
        self._query_seconds = query_seconds
        self._batch_seconds = batch_seconds
        self._endpoint = Endpoint(calls)
        self._cache = VectorCache()
        self._sizes: dict[tuple[str, str, int], int] = {}
        self._failed: dict[Embedder, tuple[float, EmbedderUnavailable]] = {}

    def embedder(self, section: VectorSection) -> Embedder:
        """Find the embedder that an agent's file names, with its key.

        Raises:
            EmbedderUnavailable: There is none, it cannot be one, or its key is not set.
        """
        name = section.embedder
        connector = self._agents.shared.connectors.get(name)
        place = f"[connectors.{name}] of pinfold.toml"
        if connector is None:
            raise _unavailable(name, f"there is no {place}", "Add it, or name another as embedder in [memory.vectors].")
        if fault := fault_of_connector(name, connector):
            raise _unavailable(name, fault, f"Look at {place}.")
        key = self._env.get(connector.api_key_env, "") if connector.api_key_env else ""
        if connector.api_key_env and not key:
            raise _unavailable(name, f"${connector.api_key_env} is not set", "Set it to the embedder's key.")
        if not (key.isascii() and key.isprintable()):
            raise _unavailable(name, f"${connector.api_key_env} holds signs that no key has", "Set it anew.")
        base = connector.base_url.rstrip("/")
        provider = f"{connector.kind} {base}"
        return Embedder(name, provider, f"{base}/embeddings", connector.model, section.dimensions, key)

    async def of_query(self, embedder: Embedder, text: str) -> Embedded:
        """Turn what somebody looks for into a vector.

        Raises:
            EmbedderUnavailable: It cannot be had now.
        """
        until, error = self._failed.get(embedder, (0.0, None))
        if error is not None and time.monotonic() < until:
            raise EmbedderUnavailable(error.what, why=error.why, fix=error.fix)
        return await self._embedded(embedder, [text], self._query_seconds)

    async def of_texts(self, embedder: Embedder, texts: Sequence[str]) -> Embedded:
        """Turn texts into vectors.

        Raises:
            EmbedderRefused: It does not take one of them.
            EmbedderUnavailable: They cannot be had now.
        """
        return await self._embedded(embedder, texts, self._batch_seconds)

    async def space(self, embedder: Embedder, *, patient: bool = True) -> Space:
        """Ask an embedder for any vector, to learn which space its vectors are of.

        Args:
            embedder: Which.
            patient: Give it the time to load its model.

        Raises:
            EmbedderUnavailable: It cannot be used.
        """
        await self._calls.run(_load)
        await self._asked(embedder, [_TRIAL], self._batch_seconds if patient else self._query_seconds)
        return embedder.space(self._sizes[embedder.origin])

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _embedded(self, embedder: Embedder, texts: Sequence[str], seconds: float) -> Embedded:
        await self._calls.run(_load)
        known = {text: self._cache.get(embedder, text) for text in texts}
        asked = [text for text, vector in known.items() if vector is None]
        fresh = await self._asked(embedder, asked, seconds) if asked else {}
        if not all(vector is None or len(vector) == self._sizes[embedder.origin] for vector in known.values()):
            fresh = await self._asked(embedder, list(known), seconds)
        vectors = await self._calls.run(_stacked, [{**known, **fresh}[text] for text in texts])
        return Embedded(embedder.space(vectors.shape[1]), vectors)

    async def _asked(self, embedder: Embedder, texts: Sequence[str], seconds: float) -> dict[str, Vectors]:
        """Ask for vectors, and remember them; those of another size than before are of another model."""
        from services.memory.agents.vectors.answers import vectors_in

        try:
            answer = await self._endpoint.answer(embedder, texts, seconds)
            vectors = await self._calls.run(vectors_in, answer, embedder, len(texts))
        except EmbedderRefused:  # it answers; other texts may be to its liking
            raise
        except EmbedderUnavailable as error:
            self._failed[embedder] = (time.monotonic() + _COOL_DOWN_SECONDS, error)
            raise
        self._failed.pop(embedder, None)
        if self._sizes.get(embedder.origin) != vectors.shape[1]:
            self._sizes[embedder.origin] = vectors.shape[1]
            self._cache.clear()
        found = dict(zip(texts, vectors, strict=True))
        for text, vector in found.items():
            self._cache.put(embedder, text, vector)
        return found


def _load() -> None:
    try:
        import_module("services.memory.agents.vectors.answers")
        import_module("httpx2")
    except ModuleNotFoundError as error:
        raise EmbedderUnavailable(
            "cannot turn memories into vectors",
            why=f"{error.name} is not installed",
            fix="Install it with: pip install 'pinfold[vectors]'",
        ) from None


def _stacked(vectors: Sequence[Vectors | None]) -> Vectors:
    import numpy as np

    return np.stack([vector for vector in vectors if vector is not None])


def _unavailable(name: str, why: str, fix: str) -> EmbedderUnavailable:
    return unavailable(Embedder(name, "", "", ""), why, fix)
