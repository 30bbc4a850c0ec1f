"""What stands left of a line: its stream's sign and, if asked for, when it came."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache

from services.output import Stream
from tui.glyphs import glyphs

_SECOND = 1_000_000_000
SIGN_WIDTH = 2
TIME_WIDTH = len("12:04:31 ")
DATED_WIDTH = len("11-30 12:04:31 ")


def sign(stream: Stream) -> str:
    """The sign of a stream, one column wide; it carries what the colour says too."""
    plain = glyphs().ascii
    if stream is Stream.STDERR:
        return "!" if plain else "▎"
    if stream is Stream.NOTE:
        return "#" if plain else "◆"
    return " "


def time_text(at: int, *, dated: bool) -> str:
    """A line's time in local time, with a space behind it; blank when it is not known.

    Args:
        at: Nanoseconds since 1970; 0 for unknown.
        dated: With month and day.
    """
    if not at:
        return " " * (DATED_WIDTH if dated else TIME_WIDTH)
    return _second_text(at // _SECOND, dated)


def needs_dates(times: Iterable[int], now: int) -> bool:
    """Whether any of some times is not of the day that `now` is in.

    Args:
        times: Nanoseconds since 1970; 0 for unknown.
        now: The same.
    """
    today = _day(now // (60 * _SECOND))
    return any(at and _day(at // (60 * _SECOND)) != today for at in times)


@lru_cache(1024)
def _second_text(second: int, dated: bool) -> str:
    return time.strftime("%m-%d %H:%M:%S " if dated else "%H:%M:%S ", time.localtime(second))


@lru_cache(1024)
def _day(minute: int) -> tuple[int, int]:
    local = time.localtime(minute * 60)
    return local.tm_year, local.tm_yday
