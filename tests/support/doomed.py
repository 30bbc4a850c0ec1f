"""A Pinfold process that is there to be killed: `python -m tests.support.doomed HOME`.

It goes on starting sessions of every agent of the home, and stops those of the agent `stubborn`, until it is killed. It
prints a line when it is open.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from services.errors import SessionError
from services.home import Home
from services.pinfold import Pinfold
from services.sandbox import StartRequest


async def main(root: Path) -> None:
    """Start and stop sessions until killed."""
    async with Pinfold.open(Home(root), env=os.environ) as pinfold:
        print("open", flush=True)  # noqa: T201 - tells whoever kills this that it is ready
        await asyncio.gather(*(again_and_again(pinfold, agent.alias) for agent in pinfold.agents.all()))


async def again_and_again(pinfold: Pinfold, alias: str) -> None:
    """Run one agent's sessions one after another."""
    while True:
        async for progress in pinfold.sandboxes.start(StartRequest(alias)):
            session = progress.session.id
        if alias == "stubborn":
            await asyncio.sleep(0.2)
            try:
                await pinfold.sandboxes.stop(session)
            except SessionError:
                continue
        await pinfold.sandboxes.wait(session)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
