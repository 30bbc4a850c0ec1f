"""Times get, set, incr and push on namespaces, and pages of a scope with a million keys.

Beside it in the same run: aiosqlite called once an operation and plain sqlite3 without a thread, on the same table for
single keys and the same layout of lists, diskcache, and redis from asyncio over its socket, which writes its log once a
second. What is not installed is left out and said.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from benchmarks.result import Result
from services.home import BlockingCalls, Database, Home
from services.memory import Memory, Scope

OPERATIONS = ("set", "get", "incr", "push")
CALLERS = 50
TIMES = 20_000
TIMES_ALONE = 3_000
ROUNDS = 3
LEAST = 3.0
VALUE = "x" * 98
KEYS = 1_000_000
PAGE = 200
PAGE_MILLISECONDS, SEARCH_MILLISECONDS = 50.0, 200.0

_DIFFERENT = {"set": 1000, "get": 1000, "incr": 100, "push": 10}
_NAMES = {"set": "k", "get": "k", "incr": "counter", "push": "list"}
_WHERE = "scope = 'user' AND id = 'benchmark' AND key = ?"
_PUT = (
    "INSERT INTO scoped_values (scope, id, key, kind, value, size, updated_at) VALUES ('user', 'benchmark', ?1, {})"
    " ON CONFLICT (scope, id, key) DO UPDATE SET value = {}, size = excluded.size, updated_at = excluded.updated_at"
)
_SQL = {
    "set": _PUT.format("'text', ?2, length(?2), unixepoch()", "excluded.value"),
    "get": f"SELECT value FROM scoped_values WHERE {_WHERE} AND (expires_at IS NULL OR expires_at > unixepoch())",
    "incr": _PUT.format("'integer', 1, 1, unixepoch()", "value + 1") + " RETURNING value",
    "push": "INSERT INTO list_items SELECT ?1, coalesce(max(position), -1) + 1, ?2 FROM list_items WHERE list = ?1",
}

Operation = Callable[[int], Awaitable[object]]


def parameters(operation: str, number: int) -> tuple[str, ...]:
    """What one call of an operation is about: a thousand keys, a hundred counters, ten lists."""
    key = f"{_NAMES[operation]}{number % _DIFFERENT[operation]}"
    return (key, VALUE) if operation in ("set", "push") else (key,)


def plain_parameters(operation: str, number: int) -> tuple[str | int, ...]:
    """The same for a statement, with JSON made and lists looked up already."""
    if operation == "push":
        return number % _DIFFERENT[operation], f'"{VALUE}"'
    return (f"k{number % 1000}", f'"{VALUE}"') if operation == "set" else parameters(operation, number)


@asynccontextmanager
async def namespaces(place: Path) -> AsyncIterator[dict[str, Operation]]:
    """The operations as Pinfold does them."""
    calls = BlockingCalls()
    home = Home(place / "home")
    async with Database(home.database_file) as database:
        keys = Memory(home, database, calls).namespace(Scope.parse("user:benchmark"))
        methods: dict[str, Callable[..., Awaitable[object]]] = {
            "set": keys.set,
            "get": keys.get,
            "incr": keys.incr,
            "push": keys.push,
        }
        yield {name: _calling(method, name) for name, method in methods.items()}
    calls.close()


def _calling(method: Callable[..., Awaitable[object]], name: str) -> Operation:
    return lambda number: method(*parameters(name, number))


@asynccontextmanager
async def aiosqlite(place: Path) -> AsyncIterator[dict[str, Operation]]:
    """The operations as aiosqlite does them, one call each."""
    async with Database(place / "aiosqlite.db"):
        pass
    async with import_module("aiosqlite").connect(place / "aiosqlite.db", isolation_level=None) as connection:
        await connection.execute("PRAGMA synchronous = NORMAL")

        async def write(name: str, number: int) -> None:
            await connection.execute(_SQL[name], plain_parameters(name, number))

        async def read(name: str, number: int) -> None:
            async with connection.execute(_SQL[name], plain_parameters(name, number)) as cursor:
                await cursor.fetchone()

        yield {name: _bound(read if name in ("get", "incr") else write, name) for name in OPERATIONS}


def _bound(call: Callable[[str, int], Awaitable[None]], name: str) -> Operation:
    return lambda number: call(name, number)


async def plain_sqlite(place: Path) -> dict[str, float]:
    """Operations a second in the calling thread."""
    async with Database(place / "plain.db"):
        pass
    connection = sqlite3.connect(place / "plain.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    rates = {}
    for name in OPERATIONS:
        started = time.perf_counter()
        for number in range(TIMES_ALONE):
            connection.execute(_SQL[name], plain_parameters(name, number)).fetchone()
        rates[name] = TIMES_ALONE / (time.perf_counter() - started)
    connection.close()
    return rates


async def diskcache(place: Path) -> dict[str, float]:
    """Operations a second in the calling thread."""
    module = import_module("diskcache")
    cache, lists = module.Cache(place / "cache"), [module.Deque(directory=place / f"d{number}") for number in range(10)]
    calls: dict[str, Callable[[int], object]] = {
        "set": lambda number: cache.set(*parameters("set", number)),
        "get": lambda number: cache.get(*parameters("get", number)),
        "incr": lambda number: cache.incr(*parameters("incr", number)),
        "push": lambda number: lists[number % 10].append(VALUE),
    }
    rates = {}
    for name, call in calls.items():
        started = time.perf_counter()
        for number in range(TIMES_ALONE):
            call(number)
        rates[name] = TIMES_ALONE / (time.perf_counter() - started)
    cache.close()
    return rates


@asynccontextmanager
async def redis(place: Path) -> AsyncIterator[dict[str, Operation]]:
    """The operations as redis-server does them, one call each; it writes what it did to a log once a second."""
    door = place / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(door), "--dir", str(place), "--appendonly", "yes"]
    server = await asyncio.create_subprocess_exec(*command, "--save", "", stdout=asyncio.subprocess.DEVNULL)
    client = import_module("redis.asyncio").Redis(unix_socket_path=str(door))
    try:
        while not door.exists():  # noqa: ASYNC110 - a program tells nobody that it is ready
            await asyncio.sleep(0.01)
        await client.ping()
        yield {
            "set": lambda number: client.set(*parameters("set", number)),
            "get": lambda number: client.get(*parameters("get", number)),
            "incr": lambda number: client.incr(*parameters("incr", number)),
            "push": lambda number: client.rpush(*parameters("push", number)),
        }
    finally:
        await client.aclose()
        server.terminate()
        await server.wait()


async def rate(operation: Operation, times: int, callers: int) -> float:
    """Operations a second with so many callers at once."""

    async def caller(first: int) -> None:
        for number in range(first, times, callers):
            await operation(number)

    started = time.perf_counter()
    await asyncio.gather(*map(caller, range(callers)))
    return times / (time.perf_counter() - started)


async def rates(place: Path) -> list[Result]:
    """Measure every operation, ours and the others in turn so that all meet the same machine."""
    measured: dict[tuple[str, str], list[float]] = {}
    for number in range(ROUNDS):
        part = place / str(number)
        part.mkdir()
        async with namespaces(part) as ours:
            for name in OPERATIONS:
                measured.setdefault((name, "alone"), []).append(await rate(ours[name], TIMES_ALONE, 1))
                measured.setdefault((name, "together"), []).append(await rate(ours[name], TIMES, CALLERS))
        if find_spec("aiosqlite"):
            async with aiosqlite(part) as theirs:
                for name in OPERATIONS:
                    measured.setdefault((name, "aiosqlite"), []).append(await rate(theirs[name], TIMES_ALONE, 1))
        if redis_is_here():
            async with redis(part) as theirs:
                for name in OPERATIONS:
                    measured.setdefault((name, "redis"), []).append(await rate(theirs[name], TIMES_ALONE, 1))
        for other, how in (("sqlite3", plain_sqlite), ("diskcache", diskcache)):
            if find_spec(other):
                for name, found in (await how(part)).items():
                    measured.setdefault((name, other), []).append(found)
    medians = {of: statistics.median(values) for of, values in measured.items()}
    return [row for name in OPERATIONS for row in _rows(name, medians)]


def redis_is_here() -> bool:
    """Whether both the server and its client are installed."""
    return bool(shutil.which("redis-server") and find_spec("redis"))


def _rows(name: str, medians: dict[tuple[str, str], float]) -> list[Result]:
    baseline = medians.get((name, "aiosqlite"), 0.0)
    together, alone = medians[name, "together"], medians[name, "alone"]
    holds = together >= LEAST * baseline
    rows = [Result(f"namespace-{name}-50-callers", together, "ops/s", baseline, f">={LEAST:g}x-aiosqlite", holds)]
    if redis_rate := medians.get((name, "redis")):
        rows.append(Result(f"namespace-{name}-one-caller", alone, "ops/s", redis_rate, ">1x-redis", alone > redis_rate))
    else:
        rows.append(Result(f"namespace-{name}-one-caller", alone, "ops/s", baseline))
    others = [other for other in ("sqlite3", "diskcache") if (name, other) in medians]
    return rows + [Result(f"{other}-{name}", medians[name, other], "ops/s", baseline) for other in others]


async def million(place: Path) -> list[Result]:
    """Time pages of a scope with a million keys, by a process that has just opened the home."""
    home, calls = Home(place / "million"), BlockingCalls()
    async with Database(home.database_file) as database:
        await database.write(_fill)
    async with Database(home.database_file) as database:
        memory = Memory(home, database, calls)
        keys = memory.namespace(Scope.parse("user:large"))
        plain = sqlite3.connect(home.database_file)
        results = [
            await _timed("first-page", lambda: keys.entries(limit=PAGE), plain, "", PAGE_MILLISECONDS),
            await _timed(
                "page-after", lambda: keys.entries(after="k0500000", limit=PAGE), plain, "k05", PAGE_MILLISECONDS
            ),
            await _timed("prefix-page", lambda: keys.entries("k07*", limit=PAGE), plain, "k07", SEARCH_MILLISECONDS),
            await _timed("prefix-100000-keys", lambda: keys.count("k07*"), plain, "k07", SEARCH_MILLISECONDS),
            await _timed("count-all", keys.count, plain, "", 0.0),
            await _timed("search-inside-names", lambda: keys.keys("*77777*", limit=PAGE), plain, "", 0.0),
        ]
        plain.close()
    calls.close()
    return results


def _fill(connection: sqlite3.Connection) -> None:
    """A million keys in one scope and a thousand in scopes beside it."""
    for scope_id, keys in (("'large'", KEYS), ("printf('small%04d', n)", 1000)):
        connection.execute(
            "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ? - 1)"
            " INSERT INTO scoped_values (scope, id, key, kind, value, size, expires_at, updated_at)"
            f" SELECT 'user', {scope_id}, printf('k%07d', n), 'text', ?, 100, NULL, n FROM numbers",
            (keys, f'"{VALUE}"'),
        )


async def _timed(
    name: str, call: Callable[[], Awaitable[object]], plain: sqlite3.Connection, start: str, most: float
) -> Result:
    """Milliseconds of the first call, and of a plain SELECT of as many rows."""
    started = time.perf_counter()
    await call()
    taken = (time.perf_counter() - started) * 1000
    query = "SELECT key, value FROM scoped_values WHERE scope = 'user' AND id = 'large' AND key >= ? LIMIT ?"
    started = time.perf_counter()
    plain.execute(query, (start, PAGE)).fetchall()
    baseline = (time.perf_counter() - started) * 1000
    target = f"<={most:g}ms" if most else "-"
    return Result(f"million-keys-{name}", taken, "ms", baseline, target, not most or taken <= most)


async def _measure(place: Path) -> list[Result]:
    return [*await rates(place), *await million(place)]


def main() -> int:
    """Measure and print."""
    for other in ("aiosqlite", "diskcache"):
        if not find_spec(other):
            print(f"not measured: {other} is not installed")
    if not redis_is_here():
        print("not measured: redis-server, or its client for Python, is not installed")
    with tempfile.TemporaryDirectory(prefix="pinfold-benchmark-") as place:
        for result in asyncio.run(_measure(Path(place))):
            print(result.line())
    return 0


if __name__ == "__main__":
    sys.exit(main())
