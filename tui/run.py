"""The screens from the first frame to the last."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tui.app import PinfoldApp

if TYPE_CHECKING:
    from services.home import Home

_TURN_SECONDS = 0.001
"""How long a thread may keep the interpreter from the screens; by default five times as long, at every turn."""

_LONGEST_SECONDS = 0.01
"""Of a full garbage collection, during which no key is answered."""

_MOST_TIMES = 16


class Lasting:
    """Takes what outlived a long garbage collection for lasting, so that the next ones need not look at it again.

    Screens and services make some hundred thousand objects that stay; looking at all of them takes a tenth of a second.
    It is done a few times only, since what is taken for lasting and is not may never be freed.

    Args:
        clock: Tells seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begun = 0.0
        self._left = _MOST_TIMES

    def __call__(self, phase: str, found: Mapping[str, int]) -> None:
        """Look how long a collection takes; for `gc.callbacks`."""
        if found["generation"] < 2 or not self._left:
            return
        if phase == "start":
            self._begun = self._clock()
        elif self._clock() - self._begun > _LONGEST_SECONDS:
            self._left -= 1
            gc.freeze()


def run(home: Home) -> int:
    """Show the screens until the operator leaves, and return the status to exit with.

    It is 0, 128 and the number of the signal that ended them, or 1 after a fault.

    Raises:
        PinfoldError: The home cannot be opened.
        Exception: The services failed in a way nobody foresaw.
    """
    sys.setswitchinterval(_TURN_SECONDS)
    gc.callbacks.append(Lasting())
    app = PinfoldApp(home)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
