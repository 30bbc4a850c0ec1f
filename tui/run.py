"""The screens from the first frame to the last."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tui.app import PinfoldApp

if TYPE_CHECKING:
    from services.home import Home

_TURN_SECONDS = 0.001
"""How long a thread may keep the interpreter from the screens; by default five times as long, at every turn."""


def run(home: Home) -> int:
    """Show the screens until the operator leaves, and return the status to exit with.

    It is 0, 128 and the number of the signal that ended them, or 1 after a fault.

    Raises:
        PinfoldError: The home cannot be opened.
        Exception: The services failed in a way nobody foresaw.
    """
    sys.setswitchinterval(_TURN_SECONDS)
    app = PinfoldApp(home)
    app.run()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0
