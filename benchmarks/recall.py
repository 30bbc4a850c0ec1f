"""Times recall by words among a million rows of twenty agents, one of whom has half of them.

The words are as frequent as in any language: the second half as often as the first, the third a third as often. Beside
it in the same run: what SQLite takes to rank every row that fits. Then by likeness among rows with vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import likeness
from benchmarks.result import Result
from services.home import Home
from services.memory import Query
from services.pinfold import Pinfold

ROWS = 1_000_000
AGENTS = 20
WORDS = 20_000
WORDS_A_ROW = 12
TIMES = 40
MILLISECONDS = 100.0
_EVERY_FIT = (
    "SELECT rowid, bm25(memory_words) AS rank FROM memory_words WHERE memory_words MATCH ? ORDER BY rank LIMIT 5"
)
_FILL = (
    "INSERT INTO memories (id, agent, key, content, category, importance, created_at, updated_at)"
    " VALUES (?, ?, ?, ?, 'core', 0.5, ?, ?)"
)


def vocabulary(chance: random.Random) -> list[str]:
    """Make words, the most frequent first."""
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    words = ["".join(parts) for parts in itertools.islice(itertools.product(syllables, repeat=3), 0, WORDS * 8, 8)]
    chance.shuffle(words)
    return words


def rows(words: Sequence[str], chance: random.Random, count: int) -> Iterator[tuple[object, ...]]:
    """Make the rows of all agents."""
    weights = list(itertools.accumulate(1 / place for place in range(1, len(words) + 1)))
    for number in range(count):
        agent = 0 if number % 2 else 1 + number // 2 % (AGENTS - 1)
        content = " ".join(chance.choices(words, cum_weights=weights, k=WORDS_A_ROW))
        yield f"{number:032x}", f"{agent:032x}", f"key {number}", content, number, number


def fill(connection: sqlite3.Connection, words: Sequence[str], chance: random.Random, count: int) -> None:
    """Store the agents and their rows."""
    agents = [(f"{number:032x}", f"agent{number}") for number in range(AGENTS)]
    connection.executemany("INSERT INTO agents (id, alias, created_at) VALUES (?, ?, 1)", agents)
    connection.executemany(_FILL, rows(words, chance, count))


def questions(words: Sequence[str], chance: random.Random) -> dict[str, Callable[[], str]]:
    """What is asked for, by how frequent the words are."""
    return {
        "rare-word": lambda: chance.choice(words[WORDS // 2 :]),
        "two-words": lambda: " ".join(chance.sample(words[500:5000], 2)),
        "two-common-words": lambda: " ".join(chance.sample(words[:10], 2)),
        "prefix": lambda: chance.choice(words[2000:])[:5] + "*",
        "sentence": lambda: " ".join([*chance.sample(words[:100], 3), *chance.sample(words[100:10_000], 3)]),
    }


async def measure(place: Path, words: Sequence[str], count: int) -> list[Result]:
    """Fill a home, then ask the agent with half of the rows and one with a fortieth."""
    chance = random.Random(4)
    home = Home(place / "home")
    for number in range(2):
        file = home.agent_file(f"agent{number}")
        file.parent.mkdir(parents=True)
        file.write_text("[agent]\n")
    async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
        print(f"storing {count:,} rows", flush=True)
        await pinfold.database.write(lambda connection: fill(connection, words, chance, count))
        asked = questions(words, chance)
        return [
            await _timed(pinfold, alias, f"{name}-{share}", question)
            for alias, share in (("agent0", "half"), ("agent1", "fortieth"))
            for name, question in asked.items()
        ]


async def _timed(pinfold: Pinfold, alias: str, name: str, question: Callable[[], str]) -> Result:
    memory = pinfold.agent_memories.of(alias)
    taken = []
    for _ in range(TIMES):
        query = Query(question())
        started = time.perf_counter()
        await memory.recall(query)
        taken.append((time.perf_counter() - started) * 1000)
    worst = statistics.quantiles(taken, n=20)[-1]
    plain = await pinfold.database.read(lambda connection: _all_ranked(connection, question()))
    return Result(f"recall-{name}", worst, "ms-p95", plain, f"<={MILLISECONDS:g}ms", worst <= MILLISECONDS)


def _all_ranked(connection: sqlite3.Connection, question: str) -> float:
    """Milliseconds in which SQLite ranks all that fits."""
    started = time.perf_counter()
    connection.execute(_EVERY_FIT, (" OR ".join(question.split()),)).fetchall()
    return (time.perf_counter() - started) * 1000


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(prog="python -m benchmarks recall")
    options.add_argument("--rows", type=int, default=ROWS, help="so many rows, and with vectors at most as many")
    count = options.parse_args().rows
    words = vocabulary(random.Random(4))
    for measured, most in ((measure, count), (likeness.measure, min(count, likeness.ROWS))):
        with tempfile.TemporaryDirectory(prefix="pinfold-benchmark-") as place:
            for result in asyncio.run(measured(Path(place), words, most)):
                print(result.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
