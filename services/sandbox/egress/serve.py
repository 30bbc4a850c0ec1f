"""The proxy's process: takes the sandbox's socket over, serves it, and prints refusals, one a line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

from services.policy.domains import DomainPolicy
from services.sandbox.egress import inlet
from services.sandbox.egress.destinations import Destinations
from services.sandbox.egress.door import keep_open, take_over
from services.sandbox.egress.heads import HEAD_LIMIT
from services.sandbox.egress.proxy import Proxy
from services.sandbox.egress.refusal import Refusal
from services.sandbox.egress.rules import read_rules
from services.sandbox.egress.tally import Tally

READY = '{"ready": true}'
"""What is printed once connections are answered."""

_TICK_SECONDS = 1.0
_OUTPUT = 1


def main(arguments: list[str]) -> None:
    """Be the door (`door HANDOVER`), the proxy (`proxy HANDOVER RULES`), or one of the ways to the tools.

    `door HANDOVER SOCKET` is a door that leads to a socket as well, on a port of its own; `inlet SOCKET` does only
    that.
    """
    match arguments:
        case ["door", handover]:
            keep_open(Path(handover))
        case ["door", handover, target]:
            threading.Thread(target=_be_inlet, args=(target,), daemon=True).start()
            keep_open(Path(handover))
        case ["inlet", target]:
            _be_inlet(target)
        case ["proxy", handover, rules]:
            asyncio.run(serve(Path(handover), read_rules(rules)))
        case _:
            sys.exit("expected: door HANDOVER [SOCKET], proxy HANDOVER RULES, or inlet SOCKET")


def _be_inlet(target: str) -> None:
    listening = inlet.listen()
    _write(READY)
    asyncio.run(inlet.carry(listening, target))


async def serve(handover: Path, policy: DomainPolicy) -> None:
    """Answer what comes through the door until told to end; what was counted by then is printed first.

    Raises:
        OSError: There is no door.
    """
    listening = await asyncio.to_thread(take_over, handover)
    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ending.set)
    tally = Tally(_print, loop.time)
    server = await asyncio.start_server(
        Proxy(Destinations(policy), tally).serve, sock=listening, limit=HEAD_LIMIT, start_serving=True
    )
    os.set_blocking(_OUTPUT, False)
    _write(READY)
    while not ending.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TICK_SECONDS):
                await ending.wait()
        tally.tick()
    tally.flush()
    server.close()


def _print(refusal: Refusal) -> None:
    _write(refusal.line())


def _write(line: str) -> None:
    """Print a line at once; a log that takes nothing any more loses it, and holds up no connection."""
    with contextlib.suppress(BlockingIOError):
        os.write(_OUTPUT, f"{line}\n".encode("ascii"))
