"""A pane on a spool as a program of its own: `program.py DIRECTORY [THEME]`; without arguments an app with nothing."""

from __future__ import annotations

import sys
from pathlib import Path

from textual.app import App
from textual.binding import Binding

from services.output import SpoolReader
from tests.tui.widgets.log_pane.harness import PaneApp


class Empty(App[None]):
    """The least that can be run."""

    BINDINGS = [Binding("q", "quit")]


class Program(PaneApp):
    """One pane that can be left."""

    BINDINGS = [Binding("q", "quit")]


if __name__ == "__main__":
    if len(sys.argv) == 1:
        Empty().run()
    else:
        Program(SpoolReader.open(Path(sys.argv[1])), theme=sys.argv[2] if len(sys.argv) > 2 else "pinfold-dark").run()
