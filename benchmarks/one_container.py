"""Follow one container at 50,000 lines a second on the Sandboxes screen, beside `docker logs -f` on the same container.

Measured on a real pseudo-terminal at 160x45: processor share and memory of Pinfold, how old the newest line on
the screen is, and whether every line is in the spool. Where lazydocker is installed it is measured as well.

What Pinfold draws is read from the bytes it writes, since it writes lines whole: a terminal emulator in Python would
take a third of a core from what is measured. lazydocker writes single cells, so that it needs the emulator.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import time

from benchmarks.containers import (
    COMMAND,
    LINE,
    counting_home,
    cpu_seconds,
    lines_missing,
    pinfold,
    resident_bytes,
    uptime,
)
from benchmarks.result import Result
from services.home import Home
from tests.support.terminal import Terminal

RATE = 50_000
SECONDS = 12.0
_SETTLE = 3.0
_CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_LOOKED_AT = 64 * 1024
"""Bytes; several frames."""


def main() -> int:
    """Measure and print."""
    with counting_home(RATE, 0.02) as home:
        session = pinfold(home, "run", "counter", "--detach")
        rows = [*_on_screen(home), *_by_docker(session), *_by_lazydocker()]
        pinfold(home, "sessions", "kill", session)
        lines, wrong = lines_missing(home, session)
        print(f"{lines:,} lines in the spool, {wrong} of them out of place")
    figures = dict(rows)
    report(figures, lines, wrong)
    return 0


def _on_screen(home: Home) -> list[tuple[str, float]]:
    command = [*COMMAND, "--home", str(home.root)]
    with Terminal(command, columns=160, rows=45) as terminal:
        terminal.wait_for("Agents")
        terminal.press("3")
        terminal.wait_until(lambda: _newest(terminal) > 0, "a counted line on the screen", 60)
        time.sleep(_SETTLE)
        process = terminal.process.pid
        started, used, held = time.monotonic(), cpu_seconds(process), resident_bytes(process)
        lags: list[float] = []
        while time.monotonic() - started < SECONDS:
            lags.append(uptime() - _newest_written(terminal))
            time.sleep(0.25)
        elapsed = time.monotonic() - started
        share = (cpu_seconds(process) - used) / elapsed
        grown = resident_bytes(process) - held
        terminal.press("ctrl+q")
        terminal.wait_for_exit()
    return [
        ("share", share),
        ("lag", statistics.median(lags)),
        ("lag-worst", max(lags)),
        ("memory", grown / 1e6),
    ]


def _newest_written(terminal: Terminal) -> float:
    """The uptime at which the newest line in the last bytes written to the screen was written; 0 for none."""
    found = LINE.findall(_CONTROL.sub(b" ", terminal.since(max(terminal.written - _LOOKED_AT, 0))))
    return max((float(written) for _, written in found), default=0.0)


def _newest(terminal: Terminal) -> float:
    """The uptime at which the newest line on the screen was written; 0 when there is none."""
    found = LINE.findall("\n".join(terminal.lines()).encode())
    return max((float(written) for _, written in found), default=0.0)


def _by_docker(session: str) -> list[tuple[str, float]]:
    docker = shutil.which("docker")
    if docker is None:
        return []
    label = f"label=pinfold.session={session}"
    container = subprocess.run(
        [docker, "ps", "-q", "--filter", label], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    with subprocess.Popen([docker, "logs", "-f", "--tail", "1", container], stdout=subprocess.DEVNULL) as logs:
        time.sleep(_SETTLE)
        started, used = time.monotonic(), cpu_seconds(logs.pid)
        time.sleep(SECONDS / 2)
        share = (cpu_seconds(logs.pid) - used) / (time.monotonic() - started)
        logs.terminate()
    return [("docker-share", share)]


def _by_lazydocker() -> list[tuple[str, float]]:
    lazydocker = shutil.which("lazydocker")
    if lazydocker is None:
        return []
    with Terminal([lazydocker], columns=160, rows=45) as terminal:
        terminal.wait_until(lambda: _newest(terminal) > 0, "a counted line on the screen", 60)
        time.sleep(_SETTLE)
        lags = []
        started, used = time.monotonic(), cpu_seconds(terminal.process.pid)
        while time.monotonic() - started < SECONDS / 2:
            lags.append(uptime() - _newest(terminal))
            time.sleep(0.25)
        share = (cpu_seconds(terminal.process.pid) - used) / (time.monotonic() - started)
    return [("lazydocker-share", share), ("lazydocker-lag", statistics.median(lags))]


def report(figures: dict[str, float], lines: int, wrong: int) -> None:
    """Print the rows."""
    share, lag = figures["share"], figures["lag"]
    rows = [
        Result("one-container-cpu", share, "cores", figures.get("docker-share", 0.0), "<=0.40", share <= 0.40),
        Result("one-container-lag-median", lag, "s", figures.get("lazydocker-lag", 0.0), "<=0.5", lag <= 0.5),
        Result("one-container-lag-worst", figures["lag-worst"], "s", 0.0),
        Result("one-container-memory-growth", figures["memory"], "MB", 0.0, "<=20", figures["memory"] <= 20),
        Result("one-container-lines-missing", wrong, "lines", float(lines), "0", wrong == 0),
    ]
    if "lazydocker-share" in figures:
        rows.append(Result("one-container-cpu-of-lazydocker", figures["lazydocker-share"], "cores", share))
    for row in rows:
        print(row.line())


if __name__ == "__main__":
    sys.exit(main())
