"""The engine's API over asyncio: for streams, for health, and for what must never hang.

Control calls go through the SDK in `control.py`; this is for whatever lasts, or has to be given up exactly.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from services.errors import EngineUnavailable
from services.sandbox.engines.docker.connection import Dialer
from services.sandbox.engines.docker.endpoint import Endpoint
from services.sandbox.engines.docker.failures import Refused, unavailable
from services.sandbox.engines.docker.http import Answer, read_answer, request_head

T = TypeVar("T")

HEAD_SECONDS = 10.0
"""How long the engine may take to begin an answer."""

SILENCE_SECONDS = 5.0
"""After how long a silent stream is suspected, and how long a ping may take."""

_FRESH_SECONDS = 2.0
_ERROR_LIMIT = 64 * 1024
_JSON_LIMIT = 8 * 1024 * 1024
_LINE_LIMIT = 4 * 1024 * 1024


class _Message(msgspec.Struct):
    message: str = ""


class Api:
    """One engine.

    Args:
        endpoint: Where it answers.
        tls: For tcp with certificates.
        version: Of the API, as in `1.41`; "" until negotiated.
    """

    def __init__(self, endpoint: Endpoint, tls: ssl.SSLContext | None = None, version: str = "") -> None:
        self.endpoint = endpoint
        self.version = version
        self._dialer = Dialer(endpoint, tls)
        self._host = "docker" if endpoint.socket is not None else f"{endpoint.host}:{endpoint.port}"
        self._answered_at = float("-inf")
        self._pinging: asyncio.Task[EngineUnavailable | None] | None = None

    async def open(
        self,
        what: str,
        method: str,
        path: str,
        query: Mapping[str, str | int] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        http: str = "1.1",
        version: str | None = None,
        seconds: float = HEAD_SECONDS,
    ) -> EngineStream:
        """Make a request and return its answer once it has begun.

        Args:
            what: What failed if it does, as a clause: "cannot read the output".
            method: GET or POST.
            path: Behind the version, percent-encoded.
            query: Encoded here.
            body: Sent as JSON.
            headers: More headers.
            http: "1.0" makes the engine send without chunks, which costs less but does not mark the end.
            version: Of the API, if not the agreed one; "" for none.
            seconds: To connect and for the answer's head.

        Raises:
            Refused: The engine answered with an error.
            EngineUnavailable: It did not answer.
        """
        version = self.version if version is None else version
        target = f"/v{version}{path}" if version else path
        if query:
            target = f"{target}?{urlencode(query)}"
        data = b"" if body is None else msgspec.json.encode(body)
        extra = {**(headers or {}), **({} if body is None else {"Content-Type": "application/json"})}
        head = request_head(
            method, target, self._host, extra, version=http, length=len(data) if method == "POST" else None
        )
        try:
            async with asyncio.timeout(seconds):
                answer = await self._ask(head + data)
                if answer.status >= 400:
                    raise Refused(what, answer.status, await _refusal(answer))
        except OSError as error:  # TimeoutError is one
            raise unavailable(self.endpoint, error) from error
        self._answered_at = asyncio.get_running_loop().time()
        return EngineStream(self, answer)

    async def get(self, what: str, path: str, kind: type[T], *, version: str, seconds: float = HEAD_SECONDS) -> T:
        """Ask for a JSON document, in the given version of the API.

        Raises:
            Refused: The engine answered with an error.
            EngineUnavailable: It did not answer in time, or with something else.
        """
        try:
            async with asyncio.timeout(seconds):
                stream = await self.open(what, "GET", path, version=version, seconds=seconds)
                try:
                    return msgspec.json.decode(await _gather(stream.answer, _JSON_LIMIT), type=kind)
                finally:
                    stream.close()
        except (OSError, msgspec.DecodeError) as error:
            raise unavailable(self.endpoint, error) from error

    async def ping(self) -> None:
        """Make sure that the engine is well: it answered just now, or answers within some seconds.

        However many ask at once, the engine gets one ping.

        Raises:
            EngineUnavailable: It does not.
        """
        if asyncio.get_running_loop().time() - self._answered_at < _FRESH_SECONDS:
            return
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.create_task(self._send_ping(), name="ping the engine")
        if (problem := await asyncio.shield(self._pinging)) is not None:
            raise problem

    async def close(self) -> None:
        """End a ping under way, and wake who waits for quiet streams."""
        self._dialer.close()
        if self._pinging is not None:
            self._pinging.cancel()
            await asyncio.gather(self._pinging, return_exceptions=True)

    async def _ask(self, request: bytes) -> Answer:
        connection = await self._dialer.connect()
        try:
            await connection.send(request)
            return await read_answer(connection)
        except BaseException:
            connection.close()
            raise

    async def _send_ping(self) -> EngineUnavailable | None:
        try:
            (await self.open("cannot ping the engine", "GET", "/_ping", seconds=SILENCE_SECONDS)).close()
        except Refused as refused:
            return unavailable(self.endpoint, ConnectionError(refused.reason))
        except EngineUnavailable as problem:
            return problem
        return None


class EngineStream:
    """An answer that is read as it comes; a silent engine is asked whether it is still there.

    Use it as a context manager, or close it.
    """

    def __init__(self, api: Api, answer: Answer) -> None:
        self.answer = answer
        self._api = api

    def __enter__(self) -> EngineStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def read(self) -> bytes:
        """Wait for more, however long it takes while the engine is well; b"" at the end.

        Raises:
            EngineUnavailable: The connection broke, or the engine is silent and answers no ping.
        """
        while (data := await self.read_within(SILENCE_SECONDS)) is None:
            await self._api.ping()
        return data

    async def read_within(self, seconds: float) -> bytes | None:
        """Wait so long for more; None when nothing came, b"" at the end.

        Raises:
            EngineUnavailable: The connection broke.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self.answer.read()
        except TimeoutError:
            return None
        except OSError as error:
            raise unavailable(self._api.endpoint, error) from error

    async def gathered_within(self, seconds: float) -> bool:
        """Wait so long until there is something to read, which then gathers for a moment; whether there is."""
        try:
            async with asyncio.timeout(seconds):
                await self.answer.gathered()
        except TimeoutError:
            return False
        return True

    async def gathered(self) -> None:
        """Wait for something to read, however long it takes while the engine is well; let it gather for a moment.

        Raises:
            EngineUnavailable: The engine is silent and answers no ping.
        """
        while not await self.gathered_within(SILENCE_SECONDS):
            await self._api.ping()

    async def documents(self, kind: type[T]) -> AsyncGenerator[T, None]:
        """Read a stream of JSON documents, one a line.

        Raises:
            EngineUnavailable: The connection broke, the engine hangs, or what came is no JSON.
        """
        decoder = msgspec.json.Decoder(kind)
        rest = b""
        while data := await self.read():
            *lines, rest = (rest + data).split(b"\n")
            if len(rest) > _LINE_LIMIT:
                raise unavailable(self._api.endpoint, ValueError("it sends a line without an end"))
            for line in lines:
                if not line.strip():
                    continue
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise unavailable(self._api.endpoint, error) from error

    async def send(self, data: bytes) -> None:
        """Send raw bytes over a hijacked connection.

        Raises:
            EngineUnavailable: The connection broke.
        """
        try:
            await self.answer.send(data)
        except OSError as error:
            raise unavailable(self._api.endpoint, error) from error

    def close(self) -> None:
        """Drop the connection."""
        self.answer.close()


async def _gather(answer: Answer, limit: int) -> bytes:
    gathered = bytearray()
    while data := await answer.read():
        gathered += data
        if len(gathered) > limit:
            raise ConnectionError(f"its answer is longer than {limit // 1024} KiB")
    return bytes(gathered)


async def _refusal(answer: Answer) -> str:
    """Read why: a JSON message, or plain text."""
    try:
        text = await _gather(answer, _ERROR_LIMIT)
    finally:
        answer.close()
    try:
        return msgspec.json.decode(text, type=_Message).message
    except msgspec.DecodeError:
        return text.decode("utf-8", "replace")
