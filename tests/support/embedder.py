"""A server that turns texts into vectors as OpenAI's protocol has it, on 127.0.0.1; and every way to do it wrong."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

CONCEPTS = (
    {"ship", "deploy", "release", "rollout", "publish"},
    {"lunch", "food", "noon", "eat", "canteen"},
    {"editor", "vi", "emacs", "write"},
    {"cat", "dog", "pet"},
)
"""What means the same to the server."""

DIMENSIONS = len(CONCEPTS) + 1


@dataclass
class Asked:
    """One request.

    Attributes:
        path: What was posted to.
        headers: By names in lower case.
        body: What was posted.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass
class Answer:
    """What is sent back.

    Attributes:
        body: JSON unless it is bytes.
        pause: Seconds before each byte of it.
        cut: Close the connection in the middle.
    """

    status: int = 200
    body: object = b""
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    cut: bool = False


def meaning(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text: a direction for each concept, and one for all that means nothing."""
    words = [word.strip(".,:!?") for word in text.lower().split()]
    counts = [float(sum(word in concept for word in words)) for concept in CONCEPTS]
    vector = [*counts, 0.1 if any(counts) else 1.0]
    return [*vector, *[0.0] * (dimensions - len(vector))]


def answered(vectors: Sequence[Sequence[float]]) -> dict[str, object]:
    """The body of a good answer."""
    data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


class EmbedderServer:
    """Answers in a thread of its own, so that processes and other event loops can ask it.

    Attributes:
        asked: Every request, in order.
        answer: Makes the answer to a request; tests put their own there.
        dimensions: How many numbers the vectors of the usual answer have.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.dimensions = DIMENSIONS
        self.answer: Callable[[Asked], Answer] = self.usual
        self._port = 0
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def texts(self) -> list[str]:
        """Every text that was asked for."""
        return [text for asked in self.asked for text in asked.texts]

    def usual(self, asked: Asked) -> Answer:
        return Answer(body=answered([meaning(text, self.dimensions) for text in asked.texts]))

    def start(self) -> None:
        """Listen, where it listened before if it did."""
        listening = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=[listening], daemon=True)
        self._thread.start()
        assert listening.wait(10)

    def stop(self) -> None:
        """Be away; done again, it changes nothing."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)
            self._thread = None

    def _run(self, listening: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(listening))
        self._loop.close()

    async def _serve(self, listening: threading.Event) -> None:
        self._stopping = asyncio.Event()
        self._talks: set[asyncio.Task[Any]] = set()
        server = await asyncio.start_server(self._talk, "127.0.0.1", self._port)
        self._port = server.sockets[0].getsockname()[1]
        listening.set()
        await self._stopping.wait()
        server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)
        try:
            while await self._answered(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        posted = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(head[0].split()[1], headers, json.loads(posted))
        self.asked.append(asked)
        answer = self.answer(asked)
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
        told = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {answer.status} x\r\n{told}\r\n".encode())
        if answer.cut:
            writer.write(body[: len(body) // 2])
            await writer.drain()
            return False
        if answer.pause:
            for byte in body:
                await asyncio.sleep(answer.pause)
                writer.write(bytes([byte]))
                await writer.drain()
        else:
            writer.write(body)
        await writer.drain()
        return True


@contextmanager
def embedder_server() -> Iterator[EmbedderServer]:
    """Run a server while the block runs."""
    server = EmbedderServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
