"""A writer that counts up by storing over what it read: `python -m … KIND TIMES HOME`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from services.errors import ChangedMeanwhile
from services.home import Home
from services.memory import MISSING, Block, Draft, Scope
from services.pinfold import Pinfold

Step = Callable[[], Awaitable[object]]


async def step_of(kind: str, pinfold: Pinfold) -> Step:
    """What reads a number, and stores the next one over what it read."""
    keys = pinfold.memory.namespace(Scope.parse("user:42"))
    blocks = pinfold.core_memory.blocks(await pinfold.core_memory.tenants.of_agent("sqlite"))

    async def key() -> None:
        seen = await keys.get("n")
        await keys.rewrite("n", 1 if seen is MISSING else seen + 1, seen)

    async def block() -> None:
        seen = (await blocks.read(Block.HUMAN)).content
        await blocks.write(Block.HUMAN, str(int(seen or 0) + 1), seen)

    async def row() -> None:
        memory = pinfold.agent_memories.of(kind)
        seen = await memory.get("n")
        await memory.store(Draft(key="n", content=str(int(seen.content) + 1 if seen else 1), seen=seen))

    return {"key": key, "block": block}.get(kind, row)


async def count_up(kind: str, times: int, home: Home) -> None:
    async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
        step = await step_of(kind, pinfold)
        sys.stdin.readline()  # until the other writer is there too
        while times:
            with suppress(ChangedMeanwhile):
                await step()
                times -= 1


if __name__ == "__main__":
    asyncio.run(count_up(sys.argv[1], int(sys.argv[2]), Home(Path(sys.argv[3]))))
