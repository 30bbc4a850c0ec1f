"""Embeds all memories of an agent, a line each batch: `python -m … HOME`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from services.home import Home
from services.pinfold import Pinfold


async def embed(home: Home) -> None:
    async with Pinfold.open(home, supervise=False, env=os.environ, engines={}) as pinfold:
        async for progress in pinfold.agent_memories.embed_run("reviewer").run():
            sys.stdout.write(f"{progress.done}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(embed(Home(Path(sys.argv[1]))))
