"""How long a key lives."""

from __future__ import annotations

import math
from typing import TypeAlias

from services.agents import parse_duration
from services.errors import InputRefused
from services.memory.scopes.model import LONGEST, ScopeKind

SECOND = 1_000_000_000

Ttl: TypeAlias = float | str | None
"""Seconds, a text such as `30m`, or `never`; None and 0 are the scope's default."""


def lifetime(ttl: Ttl, kind: ScopeKind) -> int | None:
    """Work out how many nanoseconds a key written now lives; None is for ever.

    Raises:
        InputRefused: It is negative, no number, no duration or over a hundred years.
    """
    seconds = kind.default_ttl if ttl is None else _seconds(ttl)
    if seconds == 0:
        seconds = kind.default_ttl
    return None if seconds is None else max(round(seconds * SECOND), 1)


def _seconds(ttl: float | str) -> float | None:
    if isinstance(ttl, bool) or not isinstance(ttl, int | float | str):
        raise _refused(repr(ttl))
    if isinstance(ttl, str):
        try:
            parsed = parse_duration(ttl)
        except ValueError as error:
            raise _refused(repr(ttl)) from error
        if parsed is None:
            return None
        ttl = parsed
    if ttl < 0:
        raise _refused(f"{ttl} is negative")
    if not math.isfinite(ttl) or ttl > LONGEST:
        raise _refused(f"{ttl} is no time a key can live")
    return float(ttl)


def _refused(why: str) -> InputRefused:
    return InputRefused("a key cannot live that long", why=why, fix="Give seconds, a text such as 30m, or never.")
