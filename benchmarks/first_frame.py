"""From starting `pinfold` to text on a real terminal, on a home of 50 agents.

The baseline is a bare Textual app with the same widgets, started in turn so that both meet the same machine.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.result import Result
from services.activity import Events
from services.agents import Agents
from services.agents.init import init_home
from services.home import BlockingCalls, Home

AGENTS = 50
ROUNDS = 9
MOST = 1.5
PATIENCE_SECONDS = 30.0

_PINFOLD = (sys.executable, "-c", "from tui.cli import main; main()", "--home")
_EMPTY = (sys.executable, "-m", "benchmarks.empty_app")
_FRAME = b"Agents"
_ROWS = b"agent_00"


async def make_home(home: Home) -> None:
    """Fill a home with agents."""
    calls = BlockingCalls()
    await init_home(home, demo=False, calls=calls)
    agents = Agents(home, Events(), calls)
    await agents.load()
    for number in range(AGENTS):
        await agents.create(f"agent_{number:02}", description=f"The agent number {number}", runner="command")
    calls.close()


def milliseconds_until(command: Sequence[str], *texts: bytes) -> list[float]:
    """Run a command on a terminal until it has painted each text in turn; then end it.

    Raises:
        TimeoutError: A text did not come.
    """
    ours, theirs = os.openpty()
    os.set_blocking(ours, False)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=_environment())
    os.close(theirs)
    try:
        return _moments(ours, started, list(texts))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(ours)


def _moments(terminal: int, started: float, texts: list[bytes]) -> list[float]:
    painted = b""
    moments: list[float] = []
    while texts:
        ready, _, _ = select.select([terminal], [], [], PATIENCE_SECONDS)
        if not ready or time.perf_counter() - started > PATIENCE_SECONDS:
            raise TimeoutError(f"{texts[0]!r} was not painted within {PATIENCE_SECONDS:g} s")
        painted += os.read(terminal, 65536)
        while texts and texts[0] in painted:
            moments.append((time.perf_counter() - started) * 1000)
            texts.pop(0)
    return moments


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "LINES": "45",
        "COLUMNS": "160",
    }


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="pinfold-bench-") as folder:
        home = Home(Path(folder) / "home")
        asyncio.run(make_home(home))
        pinfold = (*_PINFOLD, str(home.root))
        milliseconds_until(pinfold, _FRAME)  # bytecode and disk cache
        milliseconds_until(_EMPTY, _FRAME)
        frames, rows, baseline = [], [], []
        for _ in range(ROUNDS):
            baseline += milliseconds_until(_EMPTY, _FRAME)
            frame, filled = milliseconds_until(pinfold, _FRAME, _ROWS)
            frames.append(frame)
            rows.append(filled)
    empty, first, filled = (statistics.median(figures) for figures in (baseline, frames, rows))
    print(Result("first-frame", first, "ms", empty, f"at-most-{MOST:g}x", first <= MOST * empty).line())
    print(Result("first-rows", filled, "ms", empty).line())


if __name__ == "__main__":
    main()
