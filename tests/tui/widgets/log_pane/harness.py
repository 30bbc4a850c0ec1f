"""A pane over a real spool, in a small app with Pinfold's themes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from textual.app import App, ComposeResult
from textual.filter import LineFilter
from textual.pilot import Pilot
from textual.widgets import Static

from services.output import Chunk, SpoolReader, SpoolWriter, Stream
from themes import style_sheets
from tui.ascii_filter import AsciiFilter
from tui.glyphs import glyphs
from tui.interface import register_builtin_themes
from tui.theming import defaults_for
from tui.widgets.choice import Choice
from tui.widgets.log_pane import LogPane
from tui.widgets.log_pane.ask_bar import AskBar

NOW = 1_764_504_000_000_000_000
"""2025-11-30 12:00:00 UTC."""

WAIT = 20.0


class Spool:
    """A session's output as a test writes it."""

    def __init__(self, directory: Path, limit: int = 1_000_000_000) -> None:
        self.directory = directory
        self.at = NOW
        self.writer = SpoolWriter.open(directory, limit=limit, keep_unindexed=True, now=lambda: self.at)
        self.reader = SpoolReader.open(directory)

    def write(self, text: str | bytes, stream: Stream = Stream.STDOUT, *, at: int | None = None) -> None:
        """Append output, a line that has not ended included."""
        data = text.encode() if isinstance(text, str) else text
        self.writer.append([Chunk(stream, data, self.at if at is None else at)])
        self.writer.flush()

    def write_lines(self, start: int, stop: int) -> None:
        """Append lines that say their own number."""
        for begin in range(start, stop, 1_000):
            self.write("".join(f"line {number}\n" for number in range(begin, min(begin + 1_000, stop))))

    def close(self) -> None:
        self.reader.close()
        self.writer.close()


class PaneApp(App[None]):
    """One pane, and something else to show in its place."""

    CSS_PATH = style_sheets()  # type: ignore[assignment]  # Textual takes paths
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, reader: SpoolReader | None, theme: str = "pinfold-dark", now: int = NOW) -> None:
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        self._plain = (AsciiFilter(),) if glyphs().ascii else ()
        register_builtin_themes(self)
        self.theme = theme
        self.pane = LogPane(lambda: now)
        self.pane.show(reader, "reviewer")
        self.copied: list[str] = []
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.pane
        yield Static("elsewhere", id="elsewhere")

    def on_mount(self) -> None:
        self.query_one("#elsewhere").display = False
        self.pane.focus()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(defaults_for(self.current_theme))

    def get_line_filters(self) -> list[LineFilter]:
        return [*super().get_line_filters(), *self._plain]

    def copy_to_clipboard(self, text: str) -> None:
        self.copied.append(text)
        super().copy_to_clipboard(text)


async def until(pilot: Pilot[None], condition: Callable[[], bool], what: str = "the condition") -> None:
    """Let the app run until a condition holds."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come true:\n" + "\n".join(shown(pilot))
        await asyncio.sleep(0.01)
        await pilot.pause()


def shown(pilot: Pilot[None]) -> list[str]:
    """The rows of the pane's lines as a person sees them, without the scroll bar and spaces at their ends."""
    lines = pilot.app.query_one(LogPane).lines
    region = lines.size.region
    return [strip.text[:-1].rstrip() for strip in lines.render_lines(region)] or [""]


def bodies(pilot: Pilot[None]) -> list[str]:
    """The same without the gutter."""
    return [row[2:] for row in shown(pilot)]


def open_bar(app: PaneApp) -> AskBar:
    """The bar the pane asks with."""
    bar = app.pane._bar
    assert bar is not None
    return bar


def choice(app: PaneApp, selector: str) -> Choice:
    """A choice of the open bar."""
    return open_bar(app).query_one(selector, Choice)
