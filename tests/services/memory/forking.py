"""Pinfolds that work on one home in processes of their own, to be killed or counted: `python -m … KIND TIMES HOME`.

One interpreter loads everything once and forks, so that fifty processes take little longer than one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from services.home import BlockingCalls, Database, Home
from services.memory import Memory, Scope, StepType

SCOPE = Scope.parse("user:killed")
WRITERS = 8
COUNTS = 150

Tell = Callable[[object], None]


@asynccontextmanager
async def opened(root: Path) -> AsyncIterator[Memory]:
    home, calls = Home(root), BlockingCalls()
    async with Database(home.database_file) as database:
        yield Memory(home, database, calls)
    calls.close()


async def write(root: Path, number: int, tell: Tell) -> None:
    """Write in every way until killed, and tell of each write that is acknowledged."""
    async with opened(root) as memory:
        keys = memory.namespace(SCOPE)

        async def one(writer: int) -> None:
            name, done = f"{number}-{writer}", 0
            while True:
                done += 1
                kind = ("counter", "list", "value")[writer % 3]
                if kind == "counter":
                    await keys.incr(name)
                elif kind == "list":
                    await keys.push(name, done)
                else:
                    await keys.set(name, [done, "x" * 50])
                tell([kind, name, done])

        await asyncio.gather(*map(one, range(WRITERS)))


async def step(root: Path, number: int, tell: Tell) -> None:
    """Work step by step in a context until killed, and tell of each step that has begun."""
    async with opened(root) as memory:
        context = await memory.contexts.open(chat=f"chat {number}")
        keys = memory.namespace(context.scope)
        done = 0
        while True:
            done += 1
            await keys.set("done", done)
            await keys.push("log", done)
            outer = await memory.contexts.begin(context.id, StepType.LLM, done)
            tell([done, "llm"])
            inner = await memory.contexts.begin(context.id, StepType.TOOL, done)
            tell([done, "tool"])
            await memory.contexts.complete(inner.id)
            await memory.contexts.complete(outer.id)


async def count(root: Path, number: int, tell: Tell) -> None:
    """Count up one counter, together with the others."""
    async with opened(root) as memory:
        for _ in range(COUNTS):
            tell(await memory.namespace(SCOPE).incr("shared"))


def forked(work: Callable[[Tell], Coroutine[Any, Any, None]]) -> tuple[int, int]:
    """Run work in a process of its own; return its id and what it tells through."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)

    def tell(what: object) -> None:
        os.write(writing, json.dumps(what).encode() + b"\n")

    asyncio.run(work(tell))
    os._exit(0)


def killed(work: Callable[[Tell], Coroutine[Any, Any, None]], after: int) -> list[bytes]:
    """Kill a process once it has told that many things, and return all it told."""
    child, reading = forked(work)
    told = b""
    while told.count(b"\n") < after and (part := os.read(reading, 65_536)):
        told += part
    os.kill(child, signal.SIGKILL)
    while part := os.read(reading, 65_536):
        told += part
    os.close(reading)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    return told.split(b"\n")[:-1]


def main(kind: str, times: int, root: Path) -> None:
    """Print what was told, a JSON document a line, a process after the other."""
    work = {"write": write, "step": step, "count": count}[kind]
    moments = random.Random(times)
    if kind == "count":
        processes = [forked(partial(work, root, number)) for number in range(times)]
        for child, reading in processes:
            with os.fdopen(reading, "rb") as told:
                sys.stdout.buffer.write(told.read())
            assert os.waitpid(child, 0)[1] == 0
        return
    for number in range(times):
        lines = killed(partial(work, root, number), moments.randrange(1, 120))
        sys.stdout.buffer.write(b"[%d, [%s]]\n" % (number, b",".join(lines)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
