"""The requests to a server that speaks OpenAI's protocol; nothing it answers is believed before it was looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from services.errors import EmbedderBusy, EmbedderRefused, EmbedderUnavailable
from services.home import BlockingCalls
from services.memory.agents.vectors.model import Embedder

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

_ANSWER_BYTES = 64 * 1024
_VECTOR_BYTES = 200_000
"""The most an answer has, and a vector in it."""

_REFUSED = (400, 413, 422)
_KEY_REFUSED = (401, 403)
_BUSY = (429, 503)
_LONGEST_PAUSE = 60.0


class Endpoint:
    """Posts texts, through one client that is made when it is first needed.

    It goes straight to the address: no proxy, no redirects, no cookies, no compression.

    Args:
        calls: Threads: the client takes a while to load, and so do the certificates it trusts.
    """

    def __init__(self, calls: BlockingCalls) -> None:
        self._calls = calls
        self._client: AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def answer(self, embedder: Embedder, texts: Sequence[str], seconds: float) -> bytes:
        """Post texts, and return what comes back as it came.

        Args:
            embedder: Which.
            texts: None of them empty.
            seconds: The most that all of it may take.

        Raises:
            EmbedderRefused: It does not take these texts.
            EmbedderUnavailable: It does not answer in time, or not with what was asked for.
        """
        client = await self._opened()
        import httpx2

        body, headers = _body(embedder, texts), _headers(embedder)
        try:
            request = client.build_request("POST", embedder.url, content=body, headers=headers)
            async with asyncio.timeout(seconds):
                response = await client.send(request, stream=True)
                try:
                    _check_status(embedder, response)
                    return await _read(embedder, response, _ANSWER_BYTES + _VECTOR_BYTES * len(texts))
                finally:
                    await response.aclose()
        except TimeoutError:
            raise unavailable(embedder, f"it did not answer within {seconds:g} seconds") from None
        except httpx2.InvalidURL:
            raise unavailable(embedder, "its address is none", f"Look at {_place(embedder)}.") from None
        except httpx2.ConnectError:
            raise unavailable(
                embedder, "no server answers at its address", f"Look whether it runs, and at {_place(embedder)}."
            ) from None
        except (httpx2.RequestError, httpx2.StreamError) as error:  # its text may repeat what was sent
            raise unavailable(embedder, f"the connection broke ({type(error).__name__})") from None

    async def close(self) -> None:
        """Close the connections; a later request makes new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _opened(self) -> AsyncClient:
        async with self._opening:
            if self._client is None:
                await self._calls.run(import_module, "httpx2")
                self._client = await self._calls.run(_made_client)
            return self._client


def unavailable(embedder: Embedder, why: str, fix: str = "") -> EmbedderUnavailable:
    """Say that an embedder cannot be used."""
    return EmbedderUnavailable(f"cannot use the embedder {embedder.name}", why=why, fix=fix)


def _made_client() -> AsyncClient:
    import anyio
    from httpx2 import AsyncClient

    anyio.run(anyio.sleep, 0)  # loads what the first request would load on the event loop
    return AsyncClient(timeout=None, trust_env=False, follow_redirects=False)


def _body(embedder: Embedder, texts: Sequence[str]) -> bytes:
    wanted: dict[str, object] = {"model": embedder.model, "input": list(texts), "encoding_format": "float"}
    if embedder.dimensions:
        wanted["dimensions"] = embedder.dimensions
    return msgspec.json.encode(wanted)


def _headers(embedder: Embedder) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    if embedder.key:
        headers["Authorization"] = f"Bearer {embedder.key}"
    return headers


def _check_status(embedder: Embedder, response: Response) -> None:
    status = response.status_code
    if status == 200:
        return
    if status in _REFUSED:
        raise EmbedderRefused(
            f"the embedder {embedder.name} does not take the texts",
            why=f"it answers {status}",
            fix=f"Look whether {embedder.model} turns texts of this length into vectors.",
        )
    if status in _KEY_REFUSED:
        raise unavailable(embedder, "it refuses the key", f"Look at api_key_env in [connectors.{embedder.name}].")
    if 300 <= status < 400:
        raise unavailable(
            embedder, f"it sends elsewhere ({status}), which is not followed", f"Look at {_place(embedder)}."
        )
    if status == 404:
        raise unavailable(
            embedder, "it has no embeddings there (404)", f"Look at {_place(embedder)}, and at the model."
        )
    if status in _BUSY:
        raise EmbedderBusy(
            f"cannot use the embedder {embedder.name}",
            why=f"it has too much to do ({status})",
            fix="Try again in a while.",
            seconds=_seconds_in(response.headers.get("Retry-After", "")),
        )
    raise unavailable(embedder, f"it answers {status}")


def _seconds_in(text: str) -> float | None:
    """How long an embedder asks to be left alone, within reason; None where it does not say it in seconds."""
    return min(float(text), _LONGEST_PAUSE) if text.isascii() and text.isdecimal() and len(text) < 10 else None


async def _read(embedder: Embedder, response: Response, limit: int) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > limit:
            raise unavailable(embedder, f"its answer is larger than {limit:,} bytes")
    return bytes(body)


def _place(embedder: Embedder) -> str:
    return f"base_url in [connectors.{embedder.name}]"
