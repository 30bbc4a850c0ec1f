"""The entry point: without an argument `pinfold` opens the screens; a verb prints text or, with --json, JSON."""

from __future__ import annotations

import sys

from services import __version__


def main() -> None:
    """Run the command and end the process with its status."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # scripts ask for it often; the rest takes five times as long to import
        sys.stdout.write(f"pinfold {__version__}\n")
        return
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    from tui.command import run_command

    sys.exit(run_command(arguments))
