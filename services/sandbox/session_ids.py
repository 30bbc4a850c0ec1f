"""Session ids: short, readable, in order of time."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

NewId = Callable[[], str]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # no letter that looks like a digit
_RANDOM = 3


def new_session_id(now: Callable[[], int] = time.time_ns) -> str:
    """Make an id such as `251130-075012-k3f`: date and time in UTC, then three random characters.

    Two made in one second may be equal; who records a session tries again then.
    """
    stamp = datetime.fromtimestamp(now() // 1_000_000_000, UTC).strftime("%y%m%d-%H%M%S")
    return f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(_RANDOM))}"
