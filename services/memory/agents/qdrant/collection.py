"""The collection of a Qdrant server that holds the memories."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from services.agents import QdrantStore
from services.errors import MemoryUnavailable
from services.home import BlockingCalls

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient
    from qdrant_client.models import Filter, Record

Connect = Callable[[QdrantStore, str], "AsyncQdrantClient"]
"""Makes a client of a server and its key, which is "" where none is asked for."""

_SECONDS = 10
_PAGE = 256
_KEYWORDS = ("home", "agent", "key_digest", "category")


def connected_to(store: QdrantStore, key: str) -> AsyncQdrantClient:
    """Make a client; it connects with its first request."""
    from qdrant_client import AsyncQdrantClient

    with warnings.catch_warnings():  # it warns of keys sent without TLS, which is the operator's choice
        warnings.simplefilter("ignore")
        return AsyncQdrantClient(url=store.url, api_key=key or None, timeout=_SECONDS, check_compatibility=False)


class Collection:
    """Points that are found by exact values of their payload.

    Args:
        settings: Says where the server is; asked for every operation.
        env: Where its key is looked up.
        calls: Threads: the client takes a second to import.
        connect: Makes the client.
    """

    def __init__(
        self,
        settings: Callable[[], QdrantStore],
        env: Mapping[str, str],
        calls: BlockingCalls,
        connect: Connect,
    ) -> None:
        self._settings = settings
        self._env = env
        self._calls = calls
        self._connect = connect
        self._client: AsyncQdrantClient | None = None
        self._made_of: tuple[QdrantStore, str] | None = None
        self._opening = asyncio.Lock()

    @property
    def address(self) -> str:
        """Where the server is said to be."""
        return self._settings().url

    async def found(self, **wanted: object) -> list[Record]:
        """Read all points whose payload has these values; a list of them is any of these."""
        records: list[Record] = []
        async with self._connected() as (client, name):
            place: Any = None
            while True:
                page, place = await client.scroll(
                    name, scroll_filter=_filter(wanted), limit=_PAGE, offset=place, with_payload=True
                )
                records.extend(page)
                if place is None:
                    return records

    async def count(self, **wanted: object) -> int:
        """Count points."""
        async with self._connected() as (client, name):
            return (await client.count(name, count_filter=_filter(wanted), exact=True)).count

    async def put(self, payloads: Mapping[str, Mapping[str, Any]]) -> None:
        """Store points by their ids in one request."""
        from qdrant_client import models

        points = [models.PointStruct(id=point, vector={}, payload=dict(one)) for point, one in payloads.items()]
        if points:
            async with self._connected() as (client, name):
                await client.upsert(name, points, wait=True)

    async def change(self, values: Mapping[str, Any], **wanted: object) -> None:
        """Set values of the payloads of points."""
        async with self._connected() as (client, name):
            await client.set_payload(name, dict(values), points=_filter(wanted), wait=True)

    async def delete(self, points: Sequence[Record]) -> None:
        """Delete points."""
        from qdrant_client import models

        if points:
            async with self._connected() as (client, name):
                chosen = models.PointIdsList(points=[point.id for point in points])
                await client.delete(name, points_selector=chosen, wait=True)

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[AsyncQdrantClient, str]]:
        try:
            await self._calls.run(import_module, "qdrant_client")
        except ImportError:
            raise _unavailable("qdrant-client is not installed", "Install pinfold[qdrant].") from None
        from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

        try:
            yield await self._opened()
        except UnexpectedResponse as error:
            if error.status_code in (401, 403):
                raise _unavailable("the server refuses the key", "Look at api_key_env in [memory.qdrant].") from error
            raise _unavailable(f"the server answers {error.status_code} {error.reason_phrase}") from error
        except ResponseHandlingException as error:
            raise _unavailable(
                f"no server answers at {self.address}", "Look whether it runs, and at url in [memory.qdrant]."
            ) from error
        except ApiException as error:
            raise _unavailable(type(error).__name__) from error

    async def _opened(self) -> tuple[AsyncQdrantClient, str]:
        async with self._opening:
            store = self._settings()
            wanted = (store, self._key(store))
            if self._client is None or wanted != self._made_of:
                await self.close()
                client = self._connect(*wanted)
                await _make_collection(client, store.collection)
                self._client, self._made_of = client, wanted
            return self._client, store.collection

    def _key(self, store: QdrantStore) -> str:
        if not store.api_key_env:
            return ""
        if not self._env.get(store.api_key_env):
            raise _unavailable(f"${store.api_key_env} is not set", "Set it to the server's key.")
        return self._env[store.api_key_env]


def _unavailable(why: str, fix: str = "") -> MemoryUnavailable:
    return MemoryUnavailable("cannot use the memory in qdrant", why=why, fix=fix)


async def _make_collection(client: AsyncQdrantClient, name: str) -> None:
    from qdrant_client import models
    from qdrant_client.http.exceptions import UnexpectedResponse

    if await client.collection_exists(name):
        return
    try:
        await client.create_collection(name, vectors_config={})
    except UnexpectedResponse as error:
        if error.status_code != 409:  # another Pinfold made it in the same moment
            raise
    with warnings.catch_warnings():  # a collection in this process has no indexes, and says so
        warnings.simplefilter("ignore")
        for field in _KEYWORDS:
            await client.create_payload_index(name, field, models.PayloadSchemaType.KEYWORD, wait=True)


def _filter(wanted: Mapping[str, object]) -> Filter:
    from qdrant_client import models

    conditions: list[Any] = []
    for field, value in wanted.items():
        match: Any = models.MatchAny(any=value) if isinstance(value, list) else models.MatchValue(value=value)  # type: ignore[arg-type]
        conditions.append(models.FieldCondition(key=field, match=match))
    return models.Filter(must=conditions)
