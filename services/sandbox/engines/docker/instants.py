"""The engine's instants, `2026-01-31T12:00:00.123456789Z`, in nanoseconds since 1970."""

from __future__ import annotations

import datetime
import re

_INSTANT = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
_NANOSECONDS = 1_000_000_000


def nanoseconds(text: str) -> int | None:
    """Read an instant; None for the engine's zero time, for an empty text and for nonsense."""
    found = _INSTANT.fullmatch(text)
    if found is None:
        return None
    whole, fraction, zone = found.groups()
    try:
        seconds = int(datetime.datetime.fromisoformat(whole + ("+00:00" if zone == "Z" else zone)).timestamp())
    except ValueError:
        return None
    return seconds * _NANOSECONDS + int((fraction or "0").ljust(9, "0")) if seconds > 0 else None


def since(at: int) -> str:
    """Write an instant as the API's `since` takes it: seconds, a dot, nine digits."""
    seconds, rest = divmod(max(0, at), _NANOSECONDS)
    return f"{seconds}.{rest:09}"
