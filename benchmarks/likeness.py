"""Times recall by words and by likeness among 100,000 rows of one agent, with vectors of 384 dimensions.

The embedder is a server of this machine that answers without a thought: its request is in the figures, no model is.
Beside it in the same run: the vectors read from SQLite, compared and sorted for each question, without any words.
"""

from __future__ import annotations

import itertools
import json
import random
import sqlite3
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.result import Result
from services.home import Home
from services.memory import AgentMemory, Query
from services.pinfold import Pinfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 100_000
DIMENSIONS = 384
TIMES = 40
MILLISECONDS = 100.0
WORDS_A_ROW = 12
_AGENT = "0" * 32
_FILL = (
    "INSERT INTO memories (number, id, agent, key, content, category, importance, created_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, 'core', 0.5, ?, ?)"
)
_CONFIG = '[connectors.near]\nkind = "openai"\nbase_url = "http://127.0.0.1:{port}/v1"\nmodel = "random"\n'


async def measure(place: Path, words: Sequence[str], count: int) -> list[Result]:
    """Fill a home, then ask: once with nothing at hand, and then again and again.

    Args:
        place: An empty directory.
        words: What rows and questions are made of, the most frequent first.
        count: How many rows.
    """
    chance = random.Random(4)
    home = Home(place / "home")
    file = home.agent_file("agent")
    file.parent.mkdir(parents=True)
    file.write_text('[memory.vectors]\nembedder = "near"\n')
    with _embedder() as port:
        home.config_file.write_text(_CONFIG.format(port=port))
        async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
            print(f"storing {count:,} rows with vectors", flush=True)
            await pinfold.database.write(lambda connection: _fill(connection, words, chance, port, count))
            memory = pinfold.agent_memories.of("agent")
            first = await _asked(memory, words, chance)
            taken = [await _asked(memory, words, chance) for _ in range(TIMES)]
            plain = [await pinfold.database.read(_plainly_compared) for _ in range(3)]
    worst, baseline = statistics.quantiles(taken, n=20)[-1], statistics.median(plain)
    size = f"{count // 1000}k-of-{DIMENSIONS}"
    return [
        Result(f"recall-likeness-{size}-first", first, "ms", baseline),
        Result(f"recall-likeness-{size}", worst, "ms-p95", baseline, f"<={MILLISECONDS:g}ms", worst <= MILLISECONDS),
    ]


async def _asked(memory: AgentMemory, words: Sequence[str], chance: random.Random) -> float:
    """Milliseconds in which two words that were not asked for before are recalled."""
    query = Query(" ".join(chance.sample(words[500:5000], 2)))
    started = time.perf_counter()
    recollection = await memory.recollect(query)
    taken = (time.perf_counter() - started) * 1000
    assert recollection.found
    assert not recollection.notice
    return taken


def _fill(connection: sqlite3.Connection, words: Sequence[str], chance: random.Random, port: int, count: int) -> None:
    weights = list(itertools.accumulate(1 / place for place in range(1, len(words) + 1)))
    contents = (" ".join(chance.choices(words, cum_weights=weights, k=WORDS_A_ROW)) for _ in range(count))
    connection.execute("INSERT INTO agents (id, alias, created_at) VALUES (?, 'agent', 1)", (_AGENT,))
    connection.executemany(
        _FILL,
        ((n, f"{n:032x}", _AGENT, f"key {n}", content, n, n) for n, content in enumerate(contents, start=1)),
    )
    space = (f"openai http://127.0.0.1:{port}/v1", "random", DIMENSIONS)
    connection.execute("INSERT INTO vector_spaces (provider, model, dimensions) VALUES (?, ?, ?)", space)
    vectors = _directions(np.random.default_rng(4), count)
    connection.executemany(
        "INSERT INTO memory_vectors (memory, agent, space, vector) VALUES (?, ?, 1, ?)",
        ((number, _AGENT, vector.tobytes()) for number, vector in enumerate(vectors, start=1)),
    )


def _directions(chance: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Make vectors of length 1."""
    vectors = chance.standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _plainly_compared(connection: sqlite3.Connection) -> float:
    """Milliseconds in which all vectors are read, compared and sorted."""
    query = _directions(np.random.default_rng(5), 1)[0]
    started = time.perf_counter()
    found = connection.execute("SELECT memory, vector FROM memory_vectors WHERE agent = ?", (_AGENT,)).fetchall()
    matrix = np.frombuffer(b"".join(vector for _, vector in found), np.float32).reshape(len(found), DIMENSIONS)
    best = np.argsort(-(matrix @ query))[:5]
    assert len(best) == 5
    return (time.perf_counter() - started) * 1000


class _Handler(BaseHTTPRequestHandler):
    """Answers with any direction."""

    protocol_version = "HTTP/1.1"
    chance = np.random.default_rng(6)

    def do_POST(self) -> None:
        """Answer one request."""
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        vectors = _directions(self.chance, len(texts)).tolist()
        body = json.dumps({"data": [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _embedder() -> Iterator[int]:
    """Run an embedder while the block runs; yields its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
