"""The tool server's process, started by whoever starts a session: `python -m services.serve_tools HOME`.

It ends by itself when no session has needed it for a while.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

IDLE_SECONDS = 15.0


def main(arguments: list[str]) -> int:
    """Serve a home's tools, as nobody's child."""
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return asyncio.run(_serve(Path(arguments[0])))


async def _serve(root: Path) -> int:
    from services.errors import LockHeld, PinfoldError
    from services.home import Home
    from services.pinfold import Pinfold

    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        async with Pinfold.open(Home(root), supervise=False) as pinfold:
            await pinfold.serve_tools(idle_seconds=IDLE_SECONDS)
    except LockHeld:
        return 0  # another one was quicker
    except PinfoldError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except asyncio.CancelledError:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
