"""An agent that stores until it is killed: `python -m … KIND NUMBER HOME`; prints each key once it is acknowledged."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from services.home import BlockingCalls, Database, Home
from services.memory.agents import AgentMemory, Draft, Owner
from services.memory.screening import Screening
from tests.services.memory.agents.backends import make_backend


async def write(kind: str, number: str, home: Home) -> None:
    calls = BlockingCalls()
    async with Database(home.database_file) as database:
        backend = make_backend(kind, home, database, calls, time.time_ns, _env(kind))
        me = AgentMemory(Owner("reviewer", home.root / "workspace"), (), backend, Screening(), calls)
        done = 0
        while True:
            done += 1
            key = f"{number}-{done}"
            await me.store(Draft(key=key, content=f"fact {key}\n\nof many", category=("core", "daily")[done % 2]))
            sys.stdout.write(f"{key}\n")
            sys.stdout.flush()


def _env(kind: str) -> Mapping[str, str] | None:
    return os.environ if kind == "postgres" else None


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], Home(Path(sys.argv[3]))))
