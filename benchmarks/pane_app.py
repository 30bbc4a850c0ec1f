"""What the log pane is measured with: apps that echo keys, with a pane and without, and a writer of many lines.

python -m benchmarks.pane_app empty           echoes keys, shows nothing else
python -m benchmarks.pane_app pane DIRECTORY  echoes keys below a pane on a spool
python -m benchmarks.pane_app write DIRECTORY RATE
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.widgets import Static

from services.output import Chunk, SpoolReader, SpoolWriter, Stream
from themes import style_sheets
from tui.interface import register_builtin_themes
from tui.theming import defaults_for
from tui.widgets.log_pane import LogPane

LINE = (
    "\x1b[2m2026-01-01T00:00:00Z\x1b[0m \x1b[32mINFO\x1b[0m  <{at:.3f}> "
    "agent fetch commit sandbox memory scope session {number:09}"
)
"""A line as an agent prints it, of some 120 bytes; it says when it was written, in seconds of the machine's clock."""

_BATCHES_A_SECOND = 50
_LIMIT = 4_000_000_000


class EchoApp(App[None]):
    """Shows how often a key was pressed.

    Args:
        directory: Of the spool to show above; None shows nothing.
    """

    CSS_PATH = style_sheets()  # type: ignore[assignment]  # Textual takes paths
    CSS = "#echo { dock: bottom; height: 1; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, directory: Path | None) -> None:
        super().__init__()
        register_builtin_themes(self)
        self.theme = "pinfold-dark"
        self._directory = directory
        self._pressed = 0

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Values for Pinfold's own variables."""
        return dict(defaults_for(self.current_theme))

    def compose(self) -> ComposeResult:
        """Lay out the pane and the echo."""
        if self._directory is not None:
            pane = LogPane()
            pane.show(SpoolReader.open(self._directory), "measured")
            yield pane
        yield Static("key 00000", id="echo", markup=False)

    def on_key(self, event: events.Key) -> None:
        """Count a key, or end."""
        if event.key == "Q":
            self.exit()
        elif event.key == "x":
            self._pressed += 1
            self.query_one("#echo", Static).update(f"key {self._pressed:05}")


def write(directory: Path, rate: int) -> None:
    """Append so many lines a second until killed."""
    with SpoolWriter.open(directory, limit=_LIMIT, keep_unindexed=True) as writer:
        number = 0
        begun = time.monotonic()
        while True:
            due = int((time.monotonic() - begun) * rate)
            now = time.monotonic()
            lines = "".join(f"{LINE.format(at=now, number=line)}\n" for line in range(number, due))
            number = max(due, number)
            if lines:
                writer.append([Chunk(Stream.STDOUT, lines.encode(), time.time_ns())])
                writer.flush()
            time.sleep(1 / _BATCHES_A_SECOND)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        EchoApp(Path(sys.argv[2]) if sys.argv[1] == "pane" else None).run()
