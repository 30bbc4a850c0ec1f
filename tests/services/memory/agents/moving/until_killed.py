"""A move that hangs at one point until it is killed: `python -m … HOME TARGET STAGE TIMES`."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from services.home import Home
from services.pinfold import Pinfold


async def move(home: Home, target: str, stage: str, times: int) -> None:
    async with Pinfold.open(home, supervise=False, engines={}) as pinfold:
        async for progress in pinfold.agent_memories.mover("reviewer", target).run():
            times -= progress.stage == stage
            if not times:
                sys.stdout.write("here\n")
                sys.stdout.flush()
                time.sleep(600)  # noqa: ASYNC251 - it must not go on


if __name__ == "__main__":
    asyncio.run(move(Home(Path(sys.argv[1])), sys.argv[2], sys.argv[3], int(sys.argv[4])))
