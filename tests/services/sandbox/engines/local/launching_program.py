"""A program that starts a sandbox as Pinfold does, says so, and waits to be killed.

Run with the home and the PATH to find bubblewrap on; reads the spec, as JSON, from standard input.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from services.home import Home
from services.sandbox.engines.local import LocalEngine
from services.sandbox.model import SandboxSpec


async def main() -> None:
    spec = msgspec.json.decode(sys.stdin.buffer.read(), type=SandboxSpec)
    engine = LocalEngine(Home(Path(sys.argv[1])), spec.home, {"PATH": sys.argv[2]})
    await engine.start(await engine.create(spec, {}))
    sys.stdout.write("started\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
