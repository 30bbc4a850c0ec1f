"""The log pane at 50,000 lines a second on a real terminal, beside an app that shows nothing, in the same run.

What is measured: from a key to the screen, the processor's share, how old the newest line on the screen is, and what
it costs to paint one line beside Rich's own way.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.app import App
from textual.strip import Strip

from benchmarks.containers import cpu_seconds
from benchmarks.pane_app import LINE
from benchmarks.result import Result
from services.output import Line, Stream
from tests.support.terminal import Terminal
from tui.widgets.log_pane.colours import Ground
from tui.widgets.log_pane.painting import LinePainter, Looks

RATE = 50_000
KEYS = 300
COLUMNS, ROWS = 100, 45
_SETTLE = 2.0
_KEY_PAUSE = 0.03
_STAMP = re.compile(r"<(\d+\.\d+)>")
_PROGRAM = [sys.executable, "-m", "benchmarks.pane_app"]


@dataclass(frozen=True)
class Run:
    """What one app did.

    Attributes:
        keys: Milliseconds from each key to the screen.
        share: Of one core.
        lags: How old the newest line on the screen was each time, seconds.
    """

    keys: list[float]
    share: float
    lags: list[float]

    def percentile(self, percent: int) -> float:
        """Of the keys' times, milliseconds."""
        return statistics.quantiles(self.keys, n=100)[percent - 1]


def main() -> int:
    """Measure and print."""
    empty = _run([*_PROGRAM, "empty"])
    with tempfile.TemporaryDirectory() as folder, _writing(Path(folder)):
        pane = _run([*_PROGRAM, "pane", folder])
    ours, richs = _line_microseconds()
    results = [
        Result(
            "pane-share", pane.share * 100, "%", empty.share * 100, "<=25%-over-it", pane.share <= empty.share + 0.25
        ),
        Result("pane-key-p50", pane.percentile(50), "ms", empty.percentile(50)),
        Result("pane-key-p99", pane.percentile(99), "ms", empty.percentile(99), "<100ms", pane.percentile(99) < 100),
        Result("pane-lag-median", statistics.median(pane.lags), "s", 0, "<=0.5s", statistics.median(pane.lags) <= 0.5),
        Result("pane-paint-line", ours, "us", richs, "<=0.25x", ours <= richs * 0.25),
    ]
    for result in results:
        print(result.line())
    return 0


def _run(command: list[str]) -> Run:
    """Press keys in an app and wait for each on the screen."""
    keys: list[float] = []
    lags: list[float] = []
    with Terminal(command, columns=COLUMNS, rows=ROWS) as terminal:
        terminal.wait_for_bytes(b"key 00000")
        time.sleep(_SETTLE)
        begun, used = time.monotonic(), cpu_seconds(terminal.process.pid)
        for number in range(1, KEYS + 1):
            seen = terminal.written
            pressed = time.monotonic()
            terminal.press("x")
            terminal.wait_for_bytes(f"key {number:05}".encode(), seen)
            keys.append((time.monotonic() - pressed) * 1000)
            if stamps := _STAMP.findall(terminal.since(seen).decode(errors="replace")):
                lags.append(time.monotonic() - float(stamps[-1]))
            time.sleep(_KEY_PAUSE)
        share = (cpu_seconds(terminal.process.pid) - used) / (time.monotonic() - begun)
        terminal.press("Q")
        terminal.wait_for_exit()
    return Run(keys, share, lags)


@contextmanager
def _writing(directory: Path) -> Iterator[None]:
    with subprocess.Popen([*_PROGRAM, "write", str(directory), str(RATE)]) as writer:
        try:
            time.sleep(_SETTLE)
            yield
        finally:
            writer.kill()


def _line_microseconds() -> tuple[float, float]:
    """Painting a typical line, and the same with Rich's own reading of escape sequences."""
    text = LINE.format(at=1.5, number=7)
    style = Style.parse("#d8dee6 on #0f1216")
    ground = Ground(style, App().ansi_theme, native=False, system=ColorSystem.TRUECOLOR)
    painter = LinePainter(Looks(ground, style, {}, style, style))
    line = Line(7, Stream.STDOUT, 0, text.encode(), len(text))
    console = Console(color_system="truecolor", force_terminal=True)

    def by_rich() -> Strip:
        parsed = Text.from_ansi(text, no_wrap=True, end="")
        parsed.stylize_before(style)
        return Strip(parsed.render(console))

    return _best(lambda: painter.paint(line)), _best(by_rich)


def _best(call: object) -> float:
    count = 2_000
    return min(timeit.repeat(call, number=count, repeat=5)) / count * 1e6  # type: ignore[arg-type]  # a callable


if __name__ == "__main__":
    sys.exit(main())
