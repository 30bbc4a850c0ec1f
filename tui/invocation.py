"""One run of the `pinfold` command: which home it works on, and how it fails."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.errors import PinfoldError

if TYPE_CHECKING:
    from services.home import Home

LOG_LIMIT = 2 * 1024 * 1024
"""Bytes after which the next start begins a new log and keeps the old one as `pinfold.log.old`."""

_log = logging.getLogger(__name__)


@dataclass
class Invocation:
    """One run of the command.

    Attributes:
        option: `--home` as given before the verb.
        home: The home once it is chosen.
    """

    option: str | None = None
    home: Home | None = None

    def choose_home(self, option: str | None = None) -> Home:
        """Choose the home, and send warnings to its log from now on.

        Args:
            option: `--home` as given after the verb.

        Raises:
            PinfoldError: The place cannot be a home.
        """
        from services.home import Home

        self.home = Home.locate(option or self.option)
        _open_log(self.home)
        return self.home

    def report(self, error: BaseException) -> None:
        """Say on stderr what failed, a line a cause; a traceback only ever goes to the home's log."""
        for cause in causes(error):
            if isinstance(cause, PinfoldError):
                complain(str(cause))
                continue
            if self.home is not None:  # without a log to go to, it would go to the terminal
                _log.critical("unexpected error", exc_info=cause)
            place = f"; the traceback is in {log_file(self.home)}" if self.home and self.home.exists else ""
            complain(f"a fault of Pinfold itself: {type(cause).__name__}: {cause}{place}")


def complain(text: str) -> None:
    """Print one line on stderr; whatever is foreign in it is cleaned."""
    from tui.text import safe

    sys.stderr.write(f"pinfold: {safe(text)}\n")
    sys.stderr.flush()


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors inside a group of errors, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from causes(inner)
    else:
        yield error


def log_file(home: Home) -> Path:
    """Where Pinfold writes what an operator need not see at once."""
    return home.state_dir / "pinfold.log"


def _open_log(home: Home) -> None:
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_handler(home))
        root.setLevel(logging.WARNING)


def _handler(home: Home) -> logging.Handler:
    if not home.exists:
        return logging.NullHandler()
    file = log_file(home)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if file.exists() and file.stat().st_size > LOG_LIMIT:
            file.replace(file.with_name(f"{file.name}.old"))
    except OSError:  # a home that can only be read; what only reads still works
        return logging.NullHandler()
    handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    return handler
